"""Draws the figures of the pages, each by the command that figures.toml names, and puts them into docs/figures.

    draw_figures.py --command target/debug/leakbound [--check] [NAME...]

`--check` compares them with those that are there and writes nothing.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ROOT / "docs/figures"


def drawn(command: Path, entry: dict[str, Any]) -> str:
    """The figure of an entry, after the Python program of the entry's page, if it has one."""
    with tempfile.TemporaryDirectory(prefix="leakbound-figures-") as folder:
        place, words = ROOT, entry["command"]
        if "script" in entry:
            place = Path(folder)
            text = (ROOT / entry["script"]).read_text(encoding="utf-8")
            program = text.split("```python\n")[1].split("```")[0]
            subprocess.run([sys.executable, "-c", program], cwd=place, check=True)
        page = f"{folder}/page.html"
        arguments = [*shlex.split(words)[1:], "--report", page, "--figures", folder, "--quiet"]
        ran = subprocess.run([command, *arguments], cwd=place, capture_output=True, text=True, env=os.environ)
        if ran.returncode not in (0, 3):
            raise SystemExit(f"{words}: {ran.stderr}")
        number = entry["figure"]
        return Path(f"{folder}/page-{number}.svg").read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", type=Path, required=True, help="the program `leakbound`")
    parser.add_argument("--check", action="store_true", help="only compare")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    table = tomllib.loads((FIGURES / "figures.toml").read_text(encoding="utf-8"))
    if stray := {path.stem for path in FIGURES.glob("*.svg")} - set(table):
        raise SystemExit(f"docs/figures: no line in figures.toml for {', '.join(sorted(stray))}")
    names = arguments.names or list(table)
    command = arguments.command.resolve()
    with ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(lambda name: drawn(command, table[name]), names))
    stale = []
    for name, text in zip(names, texts):
        path = FIGURES / f"{name}.svg"
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        raise SystemExit(f"docs/figures: {', '.join(stale)} would be drawn otherwise; python3 docs/tools/draw_figures.py")
    print(f"{len(names)} figures {'are current' if arguments.check else 'drawn'}")


if __name__ == "__main__":
    main()
