"""Audits of trainings by Opacus in one run each: bounds beside claims and forecasts, as a table in Markdown.

Runs `opacus_run.py` for every claim, number of canaries and seed, two at a time, and runs without canaries; lines of a
file of runs that are there already are not run again.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import leakbound

EPSILONS, CANARIES = (1.0, 2.0, 4.0, 8.0), (1000, 5000)
AUDITS = ("gradients", "mean of models", "last model")


def key(row: dict) -> tuple:
    return row["epsilon"], row["canaries"], row["seed"], row["null"]


def run(options: argparse.Namespace, wanted: tuple) -> str:
    epsilon, canaries, seed, null = wanted
    words = [
        sys.executable,
        str(pathlib.Path(__file__).with_name("opacus_run.py")),
        "--data",
        str(options.data),
        "--epsilon",
        f"{epsilon:g}",
        "--canaries",
        str(canaries),
        "--seed",
        str(seed),
    ]
    if null:
        words += ["--null", "--steps", "100"]
    else:
        words += ["--scores", str(options.runs.with_suffix(""))]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def table(rows: list[dict], seeds: int) -> list[str]:
    lines = [
        "| claimed ε | accuracy | canaries | forecast of gradients | gradients, median | share of forecast | mean of models | last model | refuted |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for epsilon in EPSILONS:
        for canaries in CANARIES:
            of = [row for row in rows if key(row)[:2] == (epsilon, canaries) and not row["null"]]
            if not of:
                continue
            bounds = {name: [row["audits"][name]["epsilon"] for row in of] for name in AUDITS}
            forecast = of[0]["forecast"]
            median = statistics.median(bounds["gradients"])
            refuted = sum(row["audits"][name]["refuted"] for row in of for name in AUDITS)
            accuracy = statistics.mean(row["accuracy"] for row in of)
            lines.append(
                f"| {of[0]['claimed']:.3g} | {100 * accuracy:.1f} % | {canaries} "
                f"| {forecast['median']:.2f} ({forecast['low']:.2f} to {forecast['high']:.2f}) "
                f"| **{median:.2f}** ({min(bounds['gradients']):.2f} to {max(bounds['gradients']):.2f}) "
                f"| {100 * median / forecast['median']:.0f} % "
                f"| {statistics.median(bounds['mean of models']):.2f} | {statistics.median(bounds['last model']):.2f} "
                f"| {refuted} of {len(of) * len(AUDITS)} |"
            )
    return lines


def figure(rows: list[dict], file: pathlib.Path) -> None:
    """Bounds of single runs against the claim, beside the forecast of gradients."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "leakbound"
    from matplotlib import pyplot

    drawn, both = pyplot.subplots(1, len(CANARIES), figsize=(10, 3.8), layout="constrained", sharey=True)
    for axes, canaries in zip(both, CANARIES):
        of = [row for row in rows if row["canaries"] == canaries and not row["null"]]
        forecasts = sorted(
            {(row["claimed"], *(row["forecast"][end] for end in ("low", "median", "high"))) for row in of}
        )
        claims = sorted({row["claimed"] for row in of})
        at = [next(forecast for forecast in forecasts if forecast[0] == claim) for claim in claims]
        axes.fill_between(claims, [one[1] for one in at], [one[3] for one in at], alpha=0.25, label="forecast, 90 %")
        axes.plot(claims, claims, "k--", lw=0.8, label="claim")
        for name, marker in zip(AUDITS, "ox+"):
            points = [[row["claimed"] for row in of], [row["audits"][name]["epsilon"] for row in of]]
            axes.plot(*points, marker, ms=5, label=name)
        axes.set(xscale="log", xlabel="claimed ε at δ = 1e-5", title=f"{canaries:,} canaries", ylim=(-0.1, 3))
        axes.set_xticks(claims, [f"{claim:.2g}" for claim in claims], minor=False)
        axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    both[0].set_ylabel("ε at least, from one run")
    both[0].legend(fontsize="small")
    drawn.savefig(file, metadata={"Date": None})


def simulated(canaries: int, audits: int) -> int:
    """Of so many audits of scores that say nothing, analyzed as those of the plans are, how many claim leakage."""
    random, claims = np.random.default_rng(7), 0
    for _ in range(audits):
        coins, scores = random.random(canaries) < 0.5, random.normal(size=canaries)
        both = leakbound.CanaryScores(scores[coins], scores[~coins])
        claims += both.epsilon_one_run(guess_selection="nested").value > 0
    return claims


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of the files of Fashion-MNIST")
    parser.add_argument("--runs", type=pathlib.Path, required=True, help="lines of JSON, one for each run")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--null-runs", type=int, default=40)
    parser.add_argument("--figure", type=pathlib.Path)
    parser.add_argument("--simulated", type=int, default=400)
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.runs.read_text().splitlines()] if options.runs.exists() else []
    done = {key(row) for row in rows}
    wanted = [
        (epsilon, canaries, seed, False)
        for seed in range(options.seeds)
        for epsilon in EPSILONS
        for canaries in CANARIES
    ]
    wanted += [(8.0, 1000, 1000 + seed, True) for seed in range(options.null_runs)]
    with ThreadPoolExecutor(2) as workers, options.runs.open("a") as file:
        for line in workers.map(lambda one: run(options, one), [one for one in wanted if one not in done]):
            file.write(line)
            file.flush()
            rows.append(json.loads(line))
    print("\n".join(table(rows, options.seeds)))
    if options.figure is not None:
        figure(rows, options.figure)
    nulls = [row for row in rows if row["null"]]
    for name in AUDITS:
        claims = sum(row["audits"][name]["epsilon"] > 0 for row in nulls)
        print(f"without canaries, {name}: {claims} of {len(nulls)} runs claim leakage")
    for canaries in CANARIES:
        claims = simulated(canaries, options.simulated)
        print(f"simulated without leakage, {canaries} canaries: {claims} of {options.simulated} audits claim leakage")
    trained = [row for row in rows if not row["null"]]
    for kind, seconds in (("gradient", "canary_seconds"), ("image", "example_seconds")):
        shares = [100 * row[seconds] / row["seconds"] for row in trained]
        if shares:
            print(f"time of {kind} canaries: {statistics.median(shares):.2f} % of the training, median")


if __name__ == "__main__":
    main()
