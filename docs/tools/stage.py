"""Copies pages to where Sphinx reads them, and turns links that leave the site into links to the repository."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
# Files outside docs/ that are pages of the site, and where.
OTHERS = {
    "CHANGELOG.md": "changelog.md",
    "python/README.md": "python-guide.md",
    "validation/README.md": "validation/experiments.md",
    "validation/gpu.md": "validation/gpu.md",
    "validation/data/README.md": "validation/data.md",
    "benches/RESULTS.md": "validation/speed.md",
    "python/benchmarks/results/2026-11-22-cluster.md": "validation/2026-11-22-cluster.md",
}
# Links to these lead to a page that stands for them.
STAND_INS = {
    "README.md": "index.md",
    "docs/README.md": "index.md",
    "validation/results": "validation/index.md",
    "docs": "index.md",
}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\[\]]*\])*\])\(([^()\s]+)\)")
FENCE = re.compile(r"(?ms)^(`{3,})[^\n]*\n.*?^\1$")
# x_i, x_{i+1}, x^n and x^{n+1} in formulas.
SUBSCRIPT = re.compile(r"(?<![\w\\])([A-Za-zα-ωΑ-Ω])_(?:\{([^{}\n]*)\}|([A-Za-z0-9α-ω]+)(?![\w_]))")
SUPERSCRIPT = re.compile(r"(?<=[\w)\]}])\^(?:\{([^{}\n]*)\}|(-?[A-Za-z0-9α-ω]+))")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")


def setting(name: str) -> str:
    """A setting of release.toml, or the version."""
    if name == "version":
        return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])
    return str(tomllib.loads((ROOT / "release.toml").read_text())[name])


class Stage:
    """The folder of pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        self.others = dict(OTHERS)
        results = (ROOT / "validation/results").glob("*.md")
        self.others |= {f"validation/results/{path.name}": f"validation/{path.name}" for path in sorted(results)}

    def place(self, source: str) -> str | None:
        """Where a file of the repository is on the site."""
        if source in self.others or source in STAND_INS:
            return self.others.get(source) or STAND_INS[source]
        if source.startswith("docs/") and source.endswith(".md"):
            return source.removeprefix("docs/")
        return None

    def page(self, source: Path, change: Callable[[str], str] = str) -> None:
        """Copies a page."""
        name = source.as_posix()
        target = self.place(name)
        assert target is not None, name
        text = change((ROOT / source).read_text(encoding="utf-8"))
        self.generated(target, self.linked(text, name, target))

    def linked(self, text: str, source: str, target: str) -> str:
        """The text with its links as they are on the site."""

        def link(match: re.Match[str]) -> str:
            label, address = match.groups()
            if re.match(r"[a-z]+:|#", address):
                return match[0]
            file, _, anchor = address.partition("#")
            found = normpath(PurePosixPath(source).parent / file)
            return f"{label}({self.address(found, target, source)}{'#' + anchor if anchor else ''})"

        pieces, last = [], 0
        for fence in FENCE.finditer(text):
            pieces += [self.outside_code(text[last : fence.start()], link), fence[0]]
            last = fence.end()
        return "".join([*pieces, self.outside_code(text[last:], link)])

    @staticmethod
    def outside_code(text: str, link: Callable[[re.Match[str]], str]) -> str:
        """Links outside of `code`, whose labels may have code; and x_i and x^n as a page shows them."""
        codes: list[str] = []

        def hide(match: re.Match[str]) -> str:
            codes.append(match[0])
            return f"\0{len(codes) - 1}\0"

        hidden = LINK.sub(link, CODE.sub(hide, text))
        hidden = re.sub(r"(?s)\$\$.*?\$\$|\]\([^()\s]+\)|<[^<>\n]+>", hide, hidden)
        hidden = SUBSCRIPT.sub(r"\1<sub>\2\3</sub>", SUPERSCRIPT.sub(r"<sup>\1\2</sup>", hidden))
        # What was hidden may hold what was hidden before.
        while "\0" in hidden:
            hidden = re.sub(r"\0(\d+)\0", lambda match: codes[int(match[1])], hidden)
        return hidden

    def address(self, found: str, target: str, source: str) -> str:
        """The address of a file of the repository, as seen from a page."""
        here = PurePosixPath(target).parent.as_posix()
        if place := self.place(found):
            return relpath(place, here)
        path = ROOT / found
        if not path.exists():
            raise SystemExit(f"{source}: a link to {found}, which does not exist")
        if path.suffix in (".svg", ".png") and path.is_file():
            copied = f"_figures/{found.replace('/', '-')}"
            self.copy(path, copied)
            return relpath(copied, here)
        kind = "tree" if path.is_dir() else "blob"
        return f"{setting('repository')}/{kind}/main/{found}"

    def generated(self, name: str, text: str) -> None:
        """Writes a page or another file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def copy(self, source: Path, name: str) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)
