"""A count with two-sided geometric noise, as a program that `leakbound audit mechanism` can run.

    python3 examples/noisy_count.py EPSILON

adds noise that makes a count EPSILON-differentially private: neighbors have one record more or less. Claim less than
EPSILON, and the audit refutes the claim:

    leakbound audit mechanism --program 'python3 examples/noisy_count.py 1.5' --dataset '[1, 1, 1]' \
        --relation add-remove --claim-epsilon 1 --delta 0
"""

import json
import math
import random
import sys


def geometric(alpha, source):
    """The number of successes before the first failure, where a success has probability alpha."""
    return math.floor(math.log(1.0 - source.random()) / math.log(alpha))


def main():
    alpha = math.exp(-float(sys.argv[1]))
    for line in sys.stdin:
        request = json.loads(line)
        source = random.Random(request["seed"])
        count = len(request["dataset"])
        outputs = [count + geometric(alpha, source) - geometric(alpha, source) for _ in range(request["runs"])]
        print(json.dumps({"id": request["id"], "outputs": outputs}), flush=True)


if __name__ == "__main__":
    main()
