"""Pages on methods, from the comments of the library, where each bound says what it computes, when it holds, and where it
is from, and from what the command says of mechanisms and theorems."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from from_results import coverage
from stage import ROOT

SRC = ROOT / "src"
# Folders of packages that hold several rooms; the others are rooms themselves.
PACKAGES = ("core", "mechanisms", "attacks", "checks")
ITEM = re.compile(r"(?:pub(?:\([a-z]+\))?\s+)?(?:const\s+)?(?:unsafe\s+)?(fn|struct|enum|trait|const|type)\s+(\w+)")
# The page of an item in rustdoc's output.
KINDS = {"fn": "fn", "struct": "struct", "enum": "enum", "trait": "trait", "const": "constant", "type": "type"}

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


def theorems(catalog: dict[str, Any]) -> str:
    """All theorems by which accountants bound a release."""
    of_mechanisms = [row["theorems"] for row in catalog["mechanisms"] + catalog["token_mechanisms"]]
    rows = set()
    for theorem in chain(*of_mechanisms, catalog["other_theorems"]):
        holds = theorem["data"].replace("-", " ") + (", forward only" if theorem["directions"] == "forward" else "")
        rows.add(f"| `{theorem['name']}` | {theorem['use']} | {holds} | `{theorem['validity']}` | {theorem['source']} |")
    head = "| accountant | use it for | holds for | validity | source |\n|---|---|---|---|---|\n"
    return head + "\n".join(sorted(rows))


def mechanisms(rows: list[dict[str, Any]]) -> str:
    """All mechanisms that release something, but for those of tokens."""
    lines = []
    for row in rows:
        names = [f"`{one['name']}`" + ("" if one["required"] else " (optional)") for one in row["parameters"]]
        about = f"{row['data']}: {row['neighbors']}"
        lines.append(f"| `{row['name']}` | {', '.join(names)} | {row['releases']} | {about} | `{row['example']}` |")
    head = "| mechanism | parameters | what is released | data, and what makes them neighbors | example |\n|---|---|---|---|---|\n"
    return head + "\n".join(lines)


def methods(described: list[dict[str, Any]]) -> tuple[str, str]:
    """The table of the methods that bound leakage from counts, and a section for each."""
    items = all_items("audit")
    measured = coverage()
    rows, sections = [], []
    for method in described:
        name, about, label, when = (method[key] for key in ("name", "about", "validity", "when"))
        linked = re.findall(r"\[`([\w:]+)`\]", about)
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
    made = {
        "rust.methods.table": table,
        "rust.methods": sections,
        "rust.theorems": theorems(catalog),
        "rust.mechanisms": mechanisms(catalog["mechanisms"]),
    }
    for room in ROOMS:
        public = exported(room)
        found = [item for item in all_items(room).values() if item.name in public and "# References" in item.text]
        if not found:
            raise SystemExit(f"src/{room}: no public item with references")
        made[f"rust.{room}"] = listed(found)
    items = all_items("audit")
    made["rust.scores"] = listed([items[name] for name in SCORES])
    return made
