"""The zoo's mechanisms under other tools and under leakbound, side by side, as a table on stdout.

    python3 validation/peers/compare.py LEAKBOUND STATDP_PYTHON SCORES_PYTHON [NAME...]

LEAKBOUND is the command; the others are the Pythons of the environments of README.md. Without names: all mechanisms with
a claim of epsilon that one of the others takes. A cell is a verdict, then the runs and seconds that it took; for
jax_privacy and privacy-estimates the bound of epsilon and seconds, without those for the outputs.
"""

import json
import pathlib
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ZOO = HERE.parent / "zoo"
TABLE = tomllib.loads((ZOO / "zoo.toml").read_text())["mechanism"]
RUNS = 10_000
# A tool that takes longer for one mechanism is stopped.
LIMIT = 90
FAILURE = 0.05


def lines(command):
    """The JSON lines of a command, up to the limit."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        text = done.stdout
    except subprocess.TimeoutExpired as stopped:
        text = (stopped.stdout or b"").decode()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def leakbound(command, entry):
    script, variant = entry["arguments"]
    words = [
        command, "audit", "mechanism", "--program", f"{sys.argv[3]} {ZOO / script} {variant}", "--dataset", json.dumps(entry["dataset"]),
        "--relation", entry["relation"], "--claim-epsilon", str(entry["epsilon"]), "--delta", str(entry.get("delta", 0)),
        "--runs", str(RUNS), "--stop-early", "--format", "json",
    ]  # fmt: skip
    if "domain" in entry:
        words += ["--domain", ",".join(map(str, entry["domain"]))]
    start = time.time()
    done = subprocess.run(words, capture_output=True, text=True)
    runs = json.loads(done.stdout)["runs"]
    verdict = {0: "stands", 3: "refuted"}[done.returncode]
    return f"{verdict} {runs['search'] + runs['bounded']} {time.time() - start:.1f}"


def statdp(python, entry):
    """PyStatDP with its own pairs, and with the pair of the zoo."""
    if entry.get("delta") or entry["relation"] not in ("linf:1", "l1:1"):
        return ["-", "-"]
    cells = []
    for found in lines([python, HERE / "statdp_adapter.py", entry["name"]]):
        if "error" in found:
            cells.append(found["error"].split(":")[0])
            continue
        verdict = "refuted" if found["p"] < FAILURE else "stands"
        lengths = {len(dataset) for dataset in found["datasets"]}
        verdict += " (unequal)" if len(lengths) > 1 else ""
        cells.append(f"{verdict} {found['runs']} {found['seconds']}")
    return (cells + ["stopped"] * 2)[:2]


def scores(python, entry):
    """jax_privacy and privacy-estimates with the pair of the zoo."""
    found = lines([python, HERE / "scores_adapter.py", str(RUNS), entry["name"]])
    if not found:
        return ["stopped", "stopped"]
    if "error" in found[0]:
        return ["-", "-"]
    cells = []
    for tool in ("jax_privacy", "privacy_estimates"):
        bound, seconds = found[0][tool]
        cells.append(f"{'refuted' if bound > entry['epsilon'] else 'stands'} {bound:.2f} {seconds}")
    return cells


def main():
    command, statdp_python, scores_python, *names = sys.argv[1:]
    heads = ["mechanism", "is", "leakbound", "PyStatDP, own pairs", "PyStatDP, given pair", "jax_privacy", "privacy-estimates"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for entry in TABLE:
        if "epsilon" not in entry or (names and entry["name"] not in names):
            continue
        others = statdp(statdp_python, entry) + scores(scores_python, entry)
        if all(cell == "-" for cell in others):
            continue
        kind = "right" if entry["right"] else "wrong" if entry.get("visible") else "hidden"
        cells = [entry["name"], kind, leakbound(command, entry), *others]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
