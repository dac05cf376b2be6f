"""Pages on methods, from the comments of the library: each bound and accountant says there what it computes, when it
holds, and where it is from."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from from_results import coverage
from stage import ROOT

SRC = ROOT / "src"
# Folders of packages that hold several rooms; the others are rooms themselves.
PACKAGES = ("core", "mechanisms", "attacks", "checks")
ITEM = re.compile(r"(?:pub(?:\([a-z]+\))?\s+)?(?:const\s+)?(?:unsafe\s+)?(fn|struct|enum|trait|const|type)\s+(\w+)")
# The page of an item in rustdoc's output.
KINDS = {"fn": "fn", "struct": "struct", "enum": "enum", "trait": "trait", "const": "constant", "type": "type"}

# When to choose an accountant: what a release is.
RELEASES = {
    "categorical": "a mechanism of your own with few outputs, whose probabilities you know",
    "clipped-logits-bounded-range": "tokens by clipped logits; the smaller of both counts",
    "clipped-logits-zcdp": "tokens by clipped logits, as published",
    "confident-gaussian": "Confident-GNMax, where more changes than one vote",
    "confident-gnmax-data-dependent-forward": "Confident-GNMax: the published cost, to reproduce papers",
    "confident-gnmax-data-dependent": "Confident-GNMax: what recorded votes cost",
    "confident-gnmax-data-independent": "Confident-GNMax, in closed form",
    "confident-gnmax-worst-case": "Confident-GNMax: an ε to publish",
    "confident-laplace": "Confident-LNMax, where more changes than one vote",
    "confident-lnmax-data-dependent-forward": "Confident-LNMax: the published cost, to reproduce papers",
    "confident-lnmax-data-dependent": "Confident-LNMax: what recorded votes cost",
    "confident-lnmax-data-independent": "Confident-LNMax: an ε to publish",
    "discrete-gaussian": "a count with discrete Gaussian noise",
    "discrete-laplace": "a count with geometric noise",
    "discrete-laplace-sum": "a sum of geometric noises, in closed form",
    "discrete-laplace-sum-cells": "a sum of geometric noises; smaller than the closed form",
    "exponential-bounded-range": "a class chosen by the exponential mechanism",
    "gaussian": "a count with Gaussian noise",
    "gaussian-vector": "several counts with Gaussian noise, such as a histogram",
    "gnmax-data-dependent": "a noisy argmax with Gaussian noise: what recorded votes cost",
    "gnmax-data-dependent-forward": "a noisy argmax: the published cost, to reproduce papers",
    "gnmax-data-independent": "a noisy argmax with Gaussian noise, in closed form",
    "gnmax-worst-case": "a noisy argmax with Gaussian noise: an ε to publish",
    "gnss": "a number with noise in proportion to its smooth sensitivity",
    "interpolated-tokens": "tokens interpolated with the uniform distribution",
    "k-ary-randomized-response": "one answer of several, by randomized response",
    "laplace": "a count with Laplace noise",
    "laplace-vector": "several counts with Laplace noise",
    "lnmax-data-dependent": "a noisy argmax with Laplace noise: what recorded votes cost",
    "lnmax-data-dependent-forward": "a noisy argmax with Laplace noise: the published cost",
    "lnmax-data-independent": "a noisy argmax with Laplace noise: an ε to publish",
    "local-hashing": "one answer, by local hashing",
    "mironov-group": "several records of one person, where no sharper theorem is known",
    "mixed-tokens": "tokens of PMixED",
    "optimized-unary": "one answer, by optimized unary encoding",
    "permute-and-flip-pure": "a class chosen by permute-and-flip",
    "poisson": "any mechanism of one record on a Poisson subsample",
    "randomized-response": "a yes or no, by randomized response",
    "shuffled-response": "answers that a shuffler mixes",
    "sparse-vector-answers": "above threshold with Gaussian noise, few queries",
    "sparse-vector-pure": "above threshold with Laplace noise",
    "sparse-vector-shifted-threshold": "above threshold with Gaussian noise, many queries",
    "staircase": "a count with staircase noise",
    "staircase-pure": "a count with staircase noise, by its ε alone",
    "subsampled-gaussian": "steps of DP-SGD, a record added or removed",
    "subsampled-gaussian-replace": "steps of DP-SGD, a record replaced",
    "subset-selection": "one answer, by subset selection",
    "symmetric-unary": "one answer, by symmetric unary encoding",
    "truncated-geometric": "a count with geometric noise, cut to a range",
    "truncated-geometric-count": "the same for one known count",
    "voted-tokens": "tokens by a noisy vote",
    "without-replacement": "a mechanism on a sample without replacement",
}
# Modules whose public items with references become sections of a page, in this order of files.
ROOMS = ("accountant", "divergence", "distribution", "membership", "interval", "token", "mechanism", "label_dp", "property")
# Items of the room `audit` that bound leakage from scores, and from several queries.
SCORES = (
    "audit_scores", "audit_one_run", "one_run_epsilon", "one_run_mu", "NestedTests",
    "joint_bound", "trade_off_band", "best_threshold_false_claims", "exposure",
)


@dataclass
class Item:
    kind: str
    name: str
    text: str
    room: str
    file: Path


def without_tests(path: Path) -> str:
    return re.split(r"(?m)^#\[cfg\(test\)\]\nmod \w+ \{", path.read_text(encoding="utf-8"))[0]


def items_of(path: Path) -> list[Item]:
    """Items with comments at the outermost level, and functions of the impl blocks there as `Type::name`."""
    found, comment, owner = [], [], ""
    parts = path.relative_to(SRC).parts
    room = parts[parts[0] in PACKAGES].removesuffix(".rs")
    for line in without_tests(path).splitlines():
        bare = line.strip()
        if bare.startswith("///"):
            comment.append(bare[3:].removeprefix(" "))
        elif bare.startswith("#["):
            continue
        else:
            if match := re.match(r"impl(?:<[^>]*>)?\s+(?:\w+(?:<[^>]*>)?\s+for\s+)?(\w+)", line):
                owner = match[1]
            item = ITEM.match(bare)
            indented = line[:1] == " "
            if comment and item and (not indented or line.startswith("    ") and not line.startswith("     ")):
                name = f"{owner}::{item[2]}" if indented else item[2]
                found.append(Item(item[1], name, "\n".join(comment), room, path))
            comment = []
    return found


def folder_of(room: str) -> Path:
    """Where a room is; the file of one without a folder has its name and `.rs`."""
    places = [SRC / package / room for package in ("", *PACKAGES)]
    return next(place for place in places if place.is_dir() or place.with_suffix(".rs").is_file())


def all_items(room: str) -> dict[str, Item]:
    """The documented items of a room, in the order of files."""
    folder = folder_of(room)
    files = sorted(folder.rglob("*.rs")) if folder.is_dir() else [folder.with_suffix(".rs")]
    return {item.name: item for path in files if path.name != "tests.rs" for item in items_of(path)}


def exported(room: str) -> set[str]:
    """The names that a room makes public."""
    text = (folder_of(room) / "mod.rs").read_text(encoding="utf-8")
    names = re.findall(r"(?ms)^pub use [\w:]+::(?:\{(.*?)\}|(\w+));", text)
    return {name.strip() for many, one in names for name in (many or one).split(",") if name.strip()}


def markdown(text: str) -> str:
    """A comment as Markdown: without examples and errors, with what links to other items as code."""
    lines: list[str] = []
    fence, section = None, ""
    for line in text.splitlines():
        if line.startswith("```"):
            if fence is None:
                fence = line[3:].strip() or "rust"
                shown = fence == "text" and section not in ("Errors", "Example", "Panics")
            elif line == "```":
                if shown:
                    lines.append(line)
                fence = None
                continue
            if shown:
                lines += ["", line] if lines and lines[-1] else [line]
            continue
        if fence is not None:
            if shown:
                lines.append(line)
            continue
        if heading := re.match(r"#+ (.*)", line):
            section = heading[1]
            if section not in ("Errors", "Example", "Examples", "Panics"):
                lines += ["", f"*{section}.* " if section != "References" else "**Source.** "]
            continue
        if section in ("Errors", "Example", "Examples", "Panics"):
            continue
        if lines and lines[-1].endswith("** ") or lines and lines[-1].endswith(".* "):
            lines[-1] += line
        else:
            lines.append(line)
    rest = "\n".join(lines)
    rest = re.sub(r"\[(`[^`\]]+`)\]\([\w:<>, ]+\)", r"\1", rest)
    rest = re.sub(r"\[([^\]`]+)\]\((?:crate|super|Self|self)::[\w:]+\)", r"\1", rest)
    rest = re.sub(r"\[(`[^`\]]+`)\](?!\()", r"\1", rest)
    rest = re.sub(r"(?m)\*\* \s*", "** ", rest)
    return re.sub(r"\n{3,}", "\n\n", rest).strip()


def rustdoc(item: Item, up: str = "..") -> str:
    """A link to the item's page in rustdoc's output."""
    name, _, function = item.name.partition("::")
    if name not in exported(item.room):
        raise SystemExit(f"{item.room}::{name} is not public, and rustdoc has no page of it")
    kind = "struct" if function else KINDS[item.kind]
    anchor = f"#method.{function}" if function else ""
    return f'<a href="{up}/rust/leakbound/{item.room}/{kind}.{name}.html{anchor}">{item.room}::{item.name}</a>'


def strings(text: str, file: str) -> str:
    """A string literal, or the constant that stands for it."""
    text = text.strip().rstrip(",").strip()
    if text.startswith('"'):
        return re.sub(r"\\\n\s*", "", text[1:-1])
    found = re.search(rf'const {text}: &str =\s*"((?:[^"\\]|\\.|\\\n)*)";', file, re.S)
    if not found:
        raise SystemExit(f"no string of the name {text}")
    return re.sub(r"\\\n\s*", "", found[1])


STATEMENT = re.compile(
    r"Statement::for_(any|these)_data\(\s*(\"[^\"]*\")\s*,\s*(\"(?:[^\"\\]|\\.|\\\n)*\"|\w+)\s*,?\s*\)"
    r"((?:\s*\.\s*(?:forward|certified)\([^)]*\))*)",
    re.S,
)


def theorems() -> str:
    """All theorems by which accountants bound a release."""
    rows, found = [], set()
    for path in sorted(SRC.rglob("*.rs")):
        file = without_tests(path)
        for data, name, source, rest in STATEMENT.findall(file):
            guarantee = "`numerically-certified`" if "certified" in rest else "`exact`"
            holds = ("any data" if data == "any" else "these data") + (", forward only" if "forward" in rest else "")
            found.add(name[1:-1])
            use = RELEASES.get(name[1:-1], "")
            rows.append(f"| `{name[1:-1]}` | {use} | {holds} | {guarantee} | {strings(source, file)} |")
    if unknown := found ^ set(RELEASES):
        raise SystemExit(f"from_rust.py: RELEASES and the library differ in {', '.join(sorted(unknown))}")
    head = "| accountant | use it for | holds for | validity | source |\n|---|---|---|---|---|\n"
    return head + "\n".join(sorted(set(rows)))


def methods(described: list[dict[str, str]]) -> tuple[str, str]:
    """The table of the methods that bound leakage from counts, and a section for each."""
    items = all_items("audit")
    measured = coverage()
    rows, sections = [], []
    for method in described:
        name, about, label, when = (method[key] for key in ("name", "about", "validity", "when"))
        linked = re.findall(r"\(crate::audit::([\w:]+)\)", about)
        item = items.get(linked[0]) or items[linked[0].split("::")[0]]
        short = re.sub(r"\s*\(`[^)]*`\)", "", markdown(about)).removeprefix("Rényi: ")
        quantity = "ε at δ" if method["bounds"] == "epsilon" else "D_α"
        wrong, cases, source = measured.get(name, (None, 0, ""))
        seen = f"{100 * wrong:.2f}\u00a0%" if wrong is not None else "none"
        rows.append(f"| [`{name}`](#{name}) | {quantity} | `{label}` | {seen} | {when} |")
        measure = (
            f"**Coverage.** In each of {cases} cases 20,000 audits were simulated at failure probability 0.05. At most "
            f"{100 * wrong:.2f}\u00a0% of the audits of a case had a bound above the truth ([result]({source}))."
            if wrong is not None
            else "**Coverage.** No result on its own."
        )
        if "# References" not in item.text:
            raise SystemExit(f"{item.file}: {item.name}, the definition of {name}, has no references")
        body = markdown(item.text)
        sections.append(
            f"### {name}\n\n{short[:1].upper()}{short[1:]} Bounds {quantity}; `{label}`.\n\n"
            f"**When to use it.** {when}\n\n{measure}\n\n**Definition.** {body}\n\nIn Rust: {rustdoc(item)}"
        )
    table = "| method | bounds | validity | largest share of wrong audits | when to use it |\n|---|---|---|---|---|\n"
    return table + "\n".join(rows), "\n\n".join(sections)


def listed(items: list[Item]) -> str:
    return "\n\n".join(f"### {item.name}\n\n{markdown(item.text)}\n\nIn Rust: {rustdoc(item)}" for item in items)


def parts(command: Path) -> dict[str, str]:
    ran = subprocess.run([command, "mechanisms", "--format", "json"], check=True, capture_output=True, text=True)
    catalog = json.loads(ran.stdout)
    table, sections = methods(catalog["methods"])
    made = {"rust.methods.table": table, "rust.methods": sections, "rust.theorems": theorems()}
    for room in ROOMS:
        public = exported(room)
        found = [item for item in all_items(room).values() if item.name in public and "# References" in item.text]
        if not found:
            raise SystemExit(f"src/{room}: no public item with references")
        made[f"rust.{room}"] = listed(found)
    items = all_items("audit")
    made["rust.scores"] = listed([items[name] for name in SCORES])
    return made
