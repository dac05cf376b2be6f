"""Ten lines that `leakbound verify --program 'python3 examples/accountant.py' --mechanism gnmax` can test."""
import json, sys

for line in sys.stdin:
    request = json.loads(line)
    if request["mechanism"] == "gnmax" and "order" in request:
        answer = {"value": request["repetitions"] * request["order"] / request["sigma"] ** 2}
    else:
        answer = {"error": "only the Rényi divergence of GNMax"}
    print(json.dumps(answer), flush=True)
