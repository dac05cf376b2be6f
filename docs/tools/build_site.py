"""Puts the pages of the site together, has Sphinx build them, and checks the links.

    build_site.py --command target/debug/leakbound --pages target/site-pages --site target/site [--rust target/doc]

Pages are those of docs/, a few files of the repository that are pages too, and what from_command.py, from_python.py,
from_rust.py, from_results.py and from_comparisons.py make of what the project says of itself. A line `<!-- generated: NAME -->` of a page
stands for such a part.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import check_links
import from_command
import from_comparisons
import from_python
import from_results
import from_rust
from stage import ROOT, Stage, setting

MARKER = re.compile(r"(?m)^<!-- generated: ([\w.-]+) -->$")


def assemble(stage: Stage, command: Path) -> None:
    """Writes all pages."""
    printed = subprocess.run([command, "schema"], check=True, capture_output=True, text=True).stdout
    schema = json.loads(printed)
    parts = {
        **from_command.parts(schema, command),
        **from_python.parts(),
        **from_rust.parts(command),
        **from_results.parts(stage),
        **from_comparisons.parts(),
    }
    used = set()

    def part(match: re.Match[str]) -> str:
        used.add(match[1])
        if match[1] not in parts:
            raise SystemExit(f"there is no generated part {match[1]}; there are {', '.join(sorted(parts))}")
        return parts[match[1]]

    for source in sorted((ROOT / "docs").rglob("*.md")):
        place = source.relative_to(ROOT)
        # The table for readers of the repository; index.md is the first page of the site.
        if place != Path("docs/README.md"):
            stage.page(place, lambda text: MARKER.sub(part, text))
    for place in stage.others:
        stage.page(Path(place))
    if unused := set(parts) - used:
        raise SystemExit(f"no page has <!-- generated: ... --> for {', '.join(sorted(unused))}")
    for name, text in from_command.pages(schema, command).items():
        stage.generated(name, text)
    for name, text in from_command.schema_files(schema, setting("documentation")).items():
        stage.generated(f"extra/{name}", text)
    for copied in ("conf.py", "_static"):
        stage.copy(ROOT / "docs" / copied, copied)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", type=Path, required=True, help="the program `leakbound`")
    parser.add_argument("--pages", type=Path, required=True, help="folder for the pages as Markdown")
    parser.add_argument("--site", type=Path, required=True, help="folder for the site")
    parser.add_argument("--rust", type=Path, help="folder of rustdoc's pages, by which links to them are checked")
    arguments = parser.parse_args()

    stage = Stage(arguments.pages)
    assemble(stage, arguments.command.resolve())
    shutil.rmtree(arguments.site, ignore_errors=True)
    environment = {
        **os.environ,
        "LEAKBOUND_VERSION": setting("version"),
        "LEAKBOUND_DOCUMENTATION": setting("documentation"),
    }
    cache = arguments.pages.parent / f"{arguments.pages.name}-doctrees"
    sphinx = [sys.executable, "-m", "sphinx", "-b", "html", "-n", "-W", "--keep-going", "-q", "-j", "2", "-d", cache]
    subprocess.run([*sphinx, arguments.pages, arguments.site], check=True, env=environment)
    for name in (".buildinfo", "objects.inv"):
        (arguments.site / name).unlink(missing_ok=True)
    faults = check_links.faults(arguments.site, arguments.rust)
    if faults:
        raise SystemExit("\n".join(faults))
    print(check_links.summary(arguments.site))


if __name__ == "__main__":
    main()
