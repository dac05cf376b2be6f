"""Tables that hold the library against others, read from the files of results."""

from __future__ import annotations

import re
from pathlib import Path

from stage import ROOT

RESULTS = ROOT / "validation/results"
HEAD = re.compile(r"(?m)^((?:\|[^\n]*\|\n)+)")


def newest(name: str) -> Path:
    """The result with the latest date."""
    found = sorted(RESULTS.glob(f"????-??-??-{name}.md"))
    if not found:
        raise SystemExit(f"{RESULTS}: no result on {name}")
    return found[-1]


def tables(text: str) -> list[str]:
    return [match[1] for match in HEAD.finditer(text)]


def table_with(text: str, *columns: str) -> str:
    """The first table that has these columns."""
    for table in tables(text):
        header = [cell.strip() for cell in table.splitlines()[0].strip("|").split("|")]
        if header[: len(columns)] == list(columns):
            return table
    raise SystemExit(f"no table of {', '.join(columns)}")


def speed() -> str:
    text = (ROOT / "benches/RESULTS.md").read_text(encoding="utf-8")
    rows = []
    for table in tables(text):
        lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
        if lines[0][:5] == ["work", "program", "its rate", "ours", "ratio"]:
            rows += [line[:5] for line in lines[2:]]
    if len(rows) < 15:
        raise SystemExit("benches/RESULTS.md: fewer rows than expected")
    body = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return "| work | program | its rate | leakbound | ratio, median and range |\n|---|---|---|---|---|\n" + body


def false_claims() -> str:
    """How often audits of noise claim leakage."""
    path = newest("false-claims")
    noise = path.read_text(encoding="utf-8").split("noise: audits that claim leakage\n", 1)[1].split("\n\n")[0]
    rows = []
    for line in noise.splitlines():
        match = re.fullmatch(r"(PASS|    )\s+(.+?)\s+([εμ])\s+(\d+) of (\d+)\s+([\d.]+ %)(?:\s+\(([^)]*)\))?\s*", line)
        if match is None:
            raise SystemExit(f"{path}: cannot read `{line}`")
        label = "`finite-sample`" if match[1] == "PASS" else "none"
        rows.append(f"| {match[2]} | {match[3]} | {match[4]} of {match[5]} | {match[6]} | {label} |")
    head = "| practice | bound of | audits that claim leakage | share | guarantee |\n|---|---|---|---|---|\n"
    return head + "\n".join(rows)


def peers() -> str:
    return table_with(newest("audit-peers").read_text(encoding="utf-8"), "mechanism", "is", "leakbound").strip()


def accountants() -> str:
    """Properties that each accountant of another library kept and did not."""
    path = newest("verify-others")
    rows: list[list[str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"target/adapters/bin/python validation/adapters/(\w+)_adapter\.py(.*)", line):
            rows.append([match[1] + match[2], "", ""])
        elif match := re.match(r"      ([a-z0-9-]+): (not refuted|does not hold|refuted) in (\d+) cases", line):
            # What does not hold was refuted in the last of its cases.
            column = 1 if match[2] == "not refuted" else 2
            rows[-1][column] += f"{', ' if rows[-1][column] else ''}{match[1]}"
    names = {
        "dp_accounting": "dp-accounting 0.6.0, Rényi",
        "dp_accounting --pld": "dp-accounting 0.6.0, privacy losses",
        "autodp": "autodp 0.2.3.1",
        "opendp": "OpenDP 0.16.0",
    }
    lines = [f"| {names[name]} | {kept} | {broken or 'none'} |" for name, kept, broken in rows]
    return "| accountant | not refuted | does not hold in some case |\n|---|---|---|\n" + "\n".join(lines)


def libraries() -> str:
    """Verdicts on mechanisms of other libraries, by library."""
    counts: dict[str, dict[str, list[str]]] = {}
    for line in newest("libraries").read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(\S[^:]*\d): (\S.*?)\s{2,}.*\s(refuted|stands)\s+\d+\s+[\d.]+\s*$", line):
            counts.setdefault(match[1], {"stands": [], "refuted": []})[match[3]].append(match[2])
    rows = [
        f"| {name} | {len(verdicts['stands'])} | {len(verdicts['refuted'])} | {', '.join(verdicts['refuted'])} |"
        for name, verdicts in counts.items()
    ]
    return "| library | claims that stand | refuted | which |\n|---|---|---|---|\n" + "\n".join(rows)


def parts() -> dict[str, str]:
    return {
        "comparison.speed": speed(),
        "comparison.false-claims": false_claims(),
        "comparison.peers": peers(),
        "comparison.accountants": accountants(),
        "comparison.libraries": libraries(),
    }
