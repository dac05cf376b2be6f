"""Runs every block of the pages, and compares what it prints with what the page shows.

    check_examples.py --command target/debug/leakbound --python target/python/bin/python [--update] [PAGE...]

- A `console` block is a session: lines that begin with `$ ` are commands, the others what they print, errors included.
- A `python` block runs after those above it on the page; a `text` block directly below it is what it prints.
- A `toml`, `json`, `csv` or `python` block below `<!-- file: NAME -->` is written to that file.
- A `rust` block is a test of the library, whose documentation includes the page.
- `<!-- not run: REASON -->` above a block says why it cannot run here.

A line `...` stands for any number of lines. Commands start in a folder of their own, which sees the repository's
`validation` and `examples`. `--update` writes what was printed into pages where it is another; blocks with `...` are
only compared.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Pages whose every block is run. The guides directly in docs/ are held against the command by tests/it/documentation.rs.
FOLDERS = ("start", "howto", "concepts", "methods", "reference")
FENCE = re.compile(r"(?m)^(`{3,})([^\n`]*)\n((?:(?!\1).*\n)*?)\1[ \t]*$")
COMMENT = re.compile(r"<!-- (file|not run): (.+?) -->\s*$", re.S)
FILES = ("toml", "json", "csv", "yaml")
PROSE = ("text", "{toctree}", "")
SECONDS = 120
# A Python that runs a block for each line that it reads.
LOOP = """
import contextlib, io, json, sys, traceback
names = {"__name__": "page"}
for line in sys.stdin:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            exec(compile(json.loads(line), "page", "exec"), names)
        except BaseException:
            traceback.print_exc()
    print(json.dumps(out.getvalue()), flush=True)
"""


@dataclass
class Block:
    language: str
    text: str
    start: int
    end: int
    line: int
    note: tuple[str, str] | None
    below: int


def blocks(page: str) -> list[Block]:
    found: list[Block] = []
    last = 0
    for match in FENCE.finditer(page):
        between = page[last : match.start()]
        note = COMMENT.search(between)
        language = match[2].strip()
        line = page.count("\n", 0, match.start()) + 1
        # Whether nothing stands between this block and the one above.
        below = len(found) - 1 if found and not between.strip() else -1
        found.append(Block(language, match[3], match.start(3), match.end(3), line, note and (note[1], note[2]), below))
        last = match.end()
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether the printed lines are those shown, where `...` is any number of lines."""
    shown_lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    printed_lines = [line.rstrip() for line in printed.strip("\n").splitlines()]
    runs: list[list[str]] = [[]]
    for line in shown_lines:
        if line.strip() == "...":
            runs.append([])
        else:
            runs[-1].append(line)
    if len(runs) == 1:
        return shown_lines == printed_lines
    first, *middle, final = runs
    if printed_lines[: len(first)] != first or len(printed_lines) < len(first) + len(final):
        return False
    if final and printed_lines[len(printed_lines) - len(final) :] != final:
        return False
    place, end = len(first), len(printed_lines) - len(final)
    for run in middle:
        starts = [at for at in range(place, end - len(run) + 1) if printed_lines[at : at + len(run)] == run]
        if not starts:
            return False
        place = starts[0] + len(run)
    return True


def session(text: str) -> list[tuple[str, str]]:
    """The commands of a session, each with the lines below it."""
    steps: list[list[str]] = []
    commands: list[str] = []
    going_on = False
    for line in text.splitlines():
        if line.startswith("$ ") or going_on:
            if going_on:
                commands[-1] += "\n" + line
            else:
                commands.append(line[2:])
                steps.append([])
            going_on = line.endswith("\\")
        elif steps:
            steps[-1].append(line)
        else:
            raise SystemExit(f"a session that begins with `{line}`, which is no command")
    return [(command, "\n".join(lines)) for command, lines in zip(commands, steps)]


class Runner:
    """What runs the blocks of one page."""

    def __init__(self, page: Path, command: Path, python: Path | None) -> None:
        self.page = page
        self.python = python
        self.folder = tempfile.TemporaryDirectory(prefix="leakbound-page-")
        self.work = Path(self.folder.name)
        for name in ("validation", "examples"):
            (self.work / name).symlink_to(ROOT / name)
        program = self.work / ".program"
        program.mkdir()
        (program / "leakbound").symlink_to(command)
        path = [str(program), *([str(python.parent)] if python else []), os.environ["PATH"]]
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join(path),
            "NO_COLOR": "1",
            "MPLBACKEND": "agg",
            "PYTHONWARNINGS": "ignore",
        }
        self.environment.pop("COLUMNS", None)
        self.process: subprocess.Popen[str] | None = None

    def shell(self, commands: list[str]) -> list[str]:
        """What each command prints; they share a shell, so that `$?` is the status of the one before."""
        mark = "===leakbound-page==="
        script = "".join(f"{command}\nstatus=$?; echo; echo {mark}; (exit $status)\n" for command in commands)
        ran = self.run(["bash", "-c", script])
        printed = ran.split(f"\n{mark}\n")
        return printed[: len(commands)]

    def run(self, words: list[str | Path]) -> str:
        ran = subprocess.run(
            words, cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=SECONDS,
        )
        return ran.stdout

    def script(self, text: str) -> str:
        """What a block of Python prints; the blocks of a page share their names."""
        assert self.python is not None
        if self.process is None:
            self.process = subprocess.Popen(
                [self.python, "-c", LOOP], cwd=self.work, env=self.environment, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True,
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(text), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else "the interpreter ended"

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate(timeout=SECONDS)


def checked(page: Path, command: Path, python: Path | None, update: bool) -> tuple[list[str], int, float]:
    """The faults of a page, how many blocks ran, and how long they took."""
    start = time.monotonic()
    text = page.read_text(encoding="utf-8")
    runner = Runner(page, command, python)
    faults: list[str] = []
    changes: list[tuple[int, int, str]] = []
    found = blocks(text)
    ran = 0
    with runner.folder:
        for place, block in enumerate(found):
            where = f"{page.relative_to(ROOT)}:{block.line}"
            below = next((other for other in found[place + 1 :] if other.below == place and other.language == "text"), None)
            if block.note and block.note[0] == "not run":
                continue
            if block.note and block.note[0] == "file":
                (runner.work / block.note[1]).write_text(block.text, encoding="utf-8")
                continue
            if block.language == "console":
                steps = session(block.text)
                printed = runner.shell([words for words, _ in steps])
                ran += 1
                if all(matches(shown, out) for (_, shown), out in zip(steps, printed)) and len(printed) == len(steps):
                    continue
                new = "".join(f"$ {words}\n" + out.strip("\n") + "\n" * bool(out.strip()) for (words, _), out in zip(steps, printed))
                new = "\n".join(line.rstrip() for line in new.splitlines()) + "\n"
                changes.append((block.start, block.end, new))
                faults.append(f"{where}: the session prints\n{new}")
            elif block.language == "python":
                if python is None:
                    continue
                printed_text = runner.script(block.text)
                ran += 1
                if below is None:
                    if printed_text.strip():
                        faults.append(f"{where}: prints, and no text block below shows it\n{printed_text}")
                elif not matches(below.text, printed_text):
                    changes.append((below.start, below.end, printed_text.strip("\n") + "\n"))
                    faults.append(f"{where}: the block prints\n{printed_text}")
            elif block.language == "rust":
                if f"docs/{page.relative_to(ROOT / 'docs').as_posix()}" not in (ROOT / "src/lib.rs").read_text():
                    faults.append(f"{where}: src/lib.rs does not include the page, so that nothing runs this")
            elif block.language not in PROSE and block.language not in ("json", "svg"):
                faults.append(f"{where}: a block of `{block.language}` that nothing runs")
        runner.close()
    if update and changes:
        for begin, end, new in reversed(changes):
            if "\n...\n" in "\n" + text[begin:end]:
                print(f"{page.relative_to(ROOT)}: a block with `...` is not updated", file=sys.stderr)
            else:
                text = text[:begin] + new + text[end:]
        page.write_text(text, encoding="utf-8")
    return faults, ran, time.monotonic() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", type=Path, required=True, help="the program `leakbound`")
    parser.add_argument("--python", type=Path, help="a Python with the package; without it no Python is run")
    parser.add_argument("--update", action="store_true", help="write what was printed into the pages")
    parser.add_argument("--times", action="store_true", help="print the seconds of each page")
    parser.add_argument("pages", nargs="*", type=Path)
    arguments = parser.parse_args()
    pages = [page.resolve() for page in arguments.pages]
    pages = pages or [page for folder in FOLDERS for page in sorted((ROOT / "docs" / folder).rglob("*.md"))]
    start = time.monotonic()
    command = arguments.command.resolve()
    # The link to the environment's Python is what makes it the environment's.
    python = arguments.python.absolute() if arguments.python else None
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda page: checked(page, command, python, arguments.update), pages))
    if arguments.times:
        for page, (_, ran, seconds) in zip(pages, results):
            print(f"{seconds:6.1f} s {ran:3} blocks  {page.relative_to(ROOT)}")
    faults = [fault for found, _, _ in results for fault in found]
    blocks_run = sum(ran for _, ran, _ in results)
    if faults:
        raise SystemExit("\n".join(faults) + f"\n{len(faults)} of {blocks_run} blocks print something else")
    print(f"{blocks_run} blocks of {len(pages)} pages print what they show, {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
