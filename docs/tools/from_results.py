"""The index of the dated results, and how often each method was wrong in them."""

from __future__ import annotations

import re
from pathlib import Path

from stage import ROOT, Stage

RESULTS = ROOT / "validation/results"
# What each experiment shows. A result of another name needs a line here.
SHOWS = {
    "audit-figures": "Figures 2 and 6 of Chadha et al. (2024), redone with every lower bound.",
    "audit-mechanism": "Verdicts of `audit mechanism` on mechanisms that are right and wrong, and how often it is wrong.",
    "audit-race": "How often `audit mechanism` finds the one pair of many that leaks by a rare event.",
    "audit-peers": "The same mechanisms under other auditing tools.",
    "audit-properties": "Wrong bounds at one order against wrong bounds at any order.",
    "coverage": "How often each lower bound from counts exceeds the truth.",
    "coverage-e-process": "The same for `e-process`, after its bets changed.",
    "defenses": "Nine defenses against membership inference, by average samples and by the most vulnerable ones.",
    "dpsgd-runs": "ε of hundreds of small DP-SGD trainings with and without one canary.",
    "false-claims": "How often audits of canary scores claim leakage where there is none.",
    "fuzzing": "Fuzzing campaigns.",
    "gpu": "Trainings on a GPU, with times and memory.",
    "ihr-row": "A row of a published table on PATE, redone.",
    "inequalities": "Inequalities between divergences and accountants, on random histograms.",
    "kill-resume": "Simulations that are killed and resumed give the same counts.",
    "labelling-budget": "How many answers of Confident-GNMax a privacy budget pays for.",
    "labels": "Label privacy mechanisms side by side: accuracy, claimed ε, memorization.",
    "ladder": "What share of the true divergence each method certifies, by number of samples.",
    "laws-by-simulation": "Exact distributions against simulated outputs.",
    "libraries": "Published libraries of differential privacy as black boxes.",
    "membership": "LiRA and its variants on 64 networks.",
    "memorization": "Labels that ALIBI and PATE-FM show at equal accuracy.",
    "meta-classifier": "A property of training data inferred from weights.",
    "mutants": "Which changes of the code no unit test notices.",
    "opacus": "Audits of trainings by Opacus in one run.",
    "pate-fm": "What unlabeled images add to PATE-FM.",
    "pmixed": "Why the published charge of PMixED is no bound.",
    "private-prediction": "Lower bounds, exact values and accountants for PATE, CaPC, PromptPATE and Private-kNN.",
    "prompt-pate": "PromptPATE with a transformer that learns in context.",
    "registry": "Every mechanism and accountant of the library, in `exact`, `audit votes`, `account` and `verify`.",
    "rounding": "Rounding of published formulas at extreme arguments.",
    "samplers": "Samplers on 10^9 draws.",
    "students": "Membership of the private images of PATE students.",
    "tables": "Every entry of the reference tables of 25 and more digits.",
    "tightness": "How many samples each method needs.",
    "tokens": "Ensembles of language models: exact leakage against accountants.",
    "tokens-at-scale": "The time of 10^5 positions, and accountants of tokens under `verify`.",
    "verify": "Accountants of this library, and accountants that are wrong on purpose, under `verify`.",
    "verify-others": "Accountants of other libraries under `verify`.",
    "votes": "Simulated votes against convolutions of their voters.",
    "worst-case": "The certified worst case of GNMax on random histograms.",
}


def dated() -> dict[str, list[str]]:
    """The dates of each experiment."""
    found: dict[str, list[str]] = {}
    for path in sorted(RESULTS.glob("*.md")):
        match = re.fullmatch(r"(\d{4}-\d{2}-\d{2})-(.+)\.md", path.name)
        if match is None:
            raise SystemExit(f"{path}: not DATE-NAME.md")
        found.setdefault(match[2], []).append(match[1])
    return found


def coverage() -> dict[str, tuple[float, int, str]]:
    """For each method the largest share of wrong audits over all cases of the newest result, how many cases, and the
    page of the result as seen from a folder of pages."""
    found: dict[str, tuple[float, int, str]] = {}
    # A later result on fewer methods replaces the rows of these.
    for path in sorted([*RESULTS.glob("*-coverage.md"), *RESULTS.glob("*-coverage-*.md")], key=order):
        here: dict[str, list[float]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := re.search(r" ([a-z][a-z-]+)(?:, delta [\d.e-]+)?\s+wrong (\d\.\d+)", line):
                here.setdefault(match[1], []).append(float(match[2]))
        source = f"../validation/{path.name}"
        found |= {method: (max(shares), len(shares), source) for method, shares in here.items()}
    return found


def order(path: Path) -> tuple[str, int]:
    return path.name[:10], len(path.name)


def parts(stage: Stage) -> dict[str, str]:
    del stage
    experiments = dated()
    if missing := set(experiments) - set(SHOWS):
        raise SystemExit(f"from_results.py: SHOWS has no line for {', '.join(sorted(missing))}")
    rows, pages = [], []
    for name, dates in sorted(experiments.items()):
        links = ", ".join(f"[{date}]({date}-{name}.md)" for date in reversed(dates))
        rows.append(f"| {name} | {SHOWS[name]} | {links} |")
        pages += [f"{name}, {date} <{date}-{name}>" for date in reversed(dates)]
    table = "| experiment | what it shows | results |\n|---|---|---|\n" + "\n".join(rows)
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```"
    return {"results.table": table, "results.pages": toctree}
