#!/usr/bin/env python3
"""What a release says of itself: one version, one set of links, one section of the changelog.

    release.py check                 whether every file that names the version or a link agrees, and whether the versions of
                                     the changelog rise as its entries ask
    release.py check --tag v0.1.0    the same for a release of that tag, which needs links that are no placeholders
    release.py set NAME VALUE        write version, date, repository, homepage, documentation or contact everywhere
    release.py notes [VERSION]       the section of CHANGELOG.md, for the page of the release
    release.py crates                the packages for crates.io in the order of their dependencies

Nothing but the standard library of Python 3.11 or later (or tomli).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]

# Where each name is written: file, and the pattern around it. The first place of each is the one that is believed.
PLACES = {
    "version": [
        ("Cargo.toml", r'(?m)^\[workspace\.package\]\nversion = "([^"]*)"'),
        *(
            ("Cargo.toml", rf'(?m)^{name} = \{{ (?:package = "[^"]*", )?path = "[^"]*", version = "([^"]*)"')
            for name in re.findall(r'(?m)^(leakbound[\w-]*) = \{[^}]*path = ', (ROOT / "Cargo.toml").read_text("utf-8"))
        ),
        ("CITATION.cff", r'(?m)^version: "?([^"\n]*)"?$'),
        ("action.yml", r'(?m)^    default: "([^"]*)" # version$'),
        ("packaging/conda/recipe.yaml", r'(?m)^  version: "([^"]*)"$'),
    ],
    "repository": [
        ("release.toml", r'(?m)^repository = "([^"]*)"'),
        ("Cargo.toml", r'(?m)^repository = "([^"]*)"'),
        ("python/pyproject.toml", r'(?m)^Repository = "([^"]*)"'),
        ("python/pyproject.toml", r'(?m)^Changelog = "([^"]*)/blob/main/CHANGELOG\.md"'),
        ("python/pyproject.toml", r'(?m)^Issues = "([^"]*)/issues"'),
        ("CITATION.cff", r'(?m)^repository-code: "([^"]*)"'),
        ("action.yml", r'(?m)^        REPOSITORY: (\S*)$'),
        (".github/ISSUE_TEMPLATE/config.yml", r"(?m)^    url: (\S*)/security/policy$"),
        ("packaging/conda/recipe.yaml", r'(?m)^  repository: (\S*)$'),
    ],
    "homepage": [
        ("release.toml", r'(?m)^homepage = "([^"]*)"'),
        ("Cargo.toml", r'(?m)^homepage = "([^"]*)"'),
        ("python/pyproject.toml", r'(?m)^Homepage = "([^"]*)"'),
        ("CITATION.cff", r'(?m)^url: "([^"]*)"'),
        ("packaging/conda/recipe.yaml", r'(?m)^  homepage: (\S*)$'),
    ],
    "documentation": [
        ("release.toml", r'(?m)^documentation = "([^"]*)"'),
        ("Cargo.toml", r'(?m)^documentation = "([^"]*)"'),
        ("python/pyproject.toml", r'(?m)^Documentation = "([^"]*)"'),
        ("train/README.md", r"\[leakbound\]\(([^)]*)\)"),
        (".github/ISSUE_TEMPLATE/config.yml", r"(?m)^    url: (\S*) # documentation$"),
        ("packaging/conda/recipe.yaml", r'(?m)^  documentation: (\S*)$'),
    ],
    "contact": [
        ("release.toml", r'(?m)^contact = "([^"]*)"'),
        ("SECURITY.md", r"<([^>\s]*@[^>\s]*)>"),
        ("CODE_OF_CONDUCT.md", r"<([^>\s]*@[^>\s]*)>"),
    ],
    "authors": [
        ("release.toml", r'(?m)^authors = "([^"]*)"'),
        ("Cargo.toml", r'(?m)^authors = \["([^"]*)"\]'),
        ("python/pyproject.toml", r'(?m)^authors = \[\{ name = "([^"]*)" \}\]'),
        ("CITATION.cff", r'(?m)^  - name: "([^"]*)"$'),
    ],
}
# Reserved by RFC 2606: nobody can own a name below it.
PLACEHOLDER = re.compile(r"(?i)\bexample\.(?:org|com|net)\b")
RELEASED = r"(?m)^## \[%s\] - (\d{4}-\d{2}-\d{2})$"
# A section of the changelog about a version.
VERSIONED = re.compile(r"(?m)^## \[(\d+)\.(\d+)\.(\d+)([^\]]*)\]")
# An entry with which the same input or seed gives other numbers.
VALUE_BREAKING = re.compile(r"(?im)^- .*\*\*value-breaking\b")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def settings() -> dict[str, Any]:
    return tomllib.loads(text("release.toml"))


def found(name: str) -> list[tuple[str, str]]:
    """Every place of a name, with what it says there."""
    rows = []
    for file, pattern in PLACES[name]:
        values = re.findall(pattern, text(file))
        if len(values) != 1:
            raise SystemExit(f"{file}: {len(values)} places of {name}, expected 1: {pattern}")
        rows.append((file, values[0]))
    return rows


def faults() -> list[str]:
    """What disagrees with the first place of each name."""
    lines = []
    for name in PLACES:
        (home, expected), *others = found(name)
        lines += [f"{file}: {name} {value!r}, but {home} has {expected!r}" for file, value in others if value != expected]
    return lines + faults_of_versions(text("CHANGELOG.md"))


def faults_of_versions(changelog: str) -> list[str]:
    """Versions of the changelog that do not rise, or rise too little for entries that change published values.

    Those need what an incompatible interface needs: a new minor version before 1.0, a new major version from then on.
    """
    lines = []
    headings = list(VERSIONED.finditer(changelog))
    for newer, older in zip(headings, headings[1:]):
        name, former = ("{}.{}.{}{}".format(*heading.groups()) for heading in (newer, older))
        (major, minor, patch), last = (tuple(map(int, heading.groups()[:3])) for heading in (newer, older))
        if (major, minor, patch) < last or name == former:
            lines.append(f"CHANGELOG.md: {name} stands above {former}")
        elif VALUE_BREAKING.search(changelog[newer.end() : older.start()]):
            least = (last[0] + 1, 0) if last[0] else (0, last[1] + 1)
            if (major, minor) < least:
                lines.append(f"CHANGELOG.md: {name} has value-breaking entries; after {former} it has to be {least[0]}.{least[1]}.0")
    return lines


def section(version: str) -> str:
    """The part of the changelog about a version, without its heading."""
    heading = re.search(rf"(?m)^## \[{re.escape(version)}\].*\n", text("CHANGELOG.md"))
    if heading is None:
        raise SystemExit(f"CHANGELOG.md: no section ## [{version}]")
    rest = text("CHANGELOG.md")[heading.end() :]
    following = re.search(r"(?m)^## ", rest)
    return rest[: following.start() if following else None].strip() + "\n"


def faults_of_release(tag: str) -> list[str]:
    """What keeps a tag from being released."""
    version = found("version")[0][1]
    lines = [] if tag == f"v{version}" else [f"tag {tag!r}, but the version is {version!r}"]
    for name in ("repository", "homepage", "documentation", "contact"):
        value = found(name)[0][1]
        if PLACEHOLDER.search(value):
            lines.append(f"release.toml: {name} {value!r} is a placeholder")
    dated = re.search(RELEASED % re.escape(version), text("CHANGELOG.md"))
    if dated is None:
        lines.append(f"CHANGELOG.md: no heading ## [{version}] - YEAR-MONTH-DAY")
    cited = re.search(r'(?m)^date-released: "?([-\d]+)"?$', text("CITATION.cff"))
    if dated and (cited is None or cited[1] != dated[1]):
        lines.append(f"CITATION.cff: date-released is not {dated[1]}, as in CHANGELOG.md")
    return lines


def put(name: str, value: str) -> None:
    """Writes a value at every place of its name."""
    if name == "date":
        version = found("version")[0][1]
        changelog = text("CHANGELOG.md")
        if re.search(rf"(?m)^## \[{re.escape(version)}\]", changelog):
            changed = re.sub(rf"(?m)^## \[{re.escape(version)}\].*$", f"## [{version}] - {value}", changelog)
        else:
            changed = changelog.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {value}\n", 1)
        cited = re.sub(r"(?m)^date-released: .*\n", "", text("CITATION.cff"))
        cited = re.sub(r"(?m)^(version: .*\n)", rf'\g<1>date-released: "{value}"\n', cited)
        (ROOT / "CHANGELOG.md").write_text(changed, encoding="utf-8")
        (ROOT / "CITATION.cff").write_text(cited, encoding="utf-8")
        return
    for file, pattern in PLACES[name]:
        whole = text(file)
        match = re.search(pattern, whole)
        if match is None:
            raise SystemExit(f"{file}: no place of {name}: {pattern}")
        (ROOT / file).write_text(whole[: match.start(1)] + value + whole[match.end(1) :], encoding="utf-8")


def main(words: list[str]) -> int:
    if words[:1] == ["check"] and (len(words) == 1 or (len(words) == 3 and words[1] == "--tag")):
        lines = faults() + (faults_of_release(words[2]) if len(words) == 3 else [])
        print("\n".join(lines) or f"version {found('version')[0][1]}: all files agree")
        return 1 if lines else 0
    if words[:1] == ["set"] and len(words) == 3 and words[1] in {*PLACES, "date"}:
        put(words[1], words[2])
        return 0
    if words[:1] == ["notes"] and len(words) < 3:
        print(section(words[1] if len(words) == 2 else found("version")[0][1]), end="")
        return 0
    if words == ["crates"]:
        print("\n".join(settings()["crates"]))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
