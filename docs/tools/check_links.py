"""Whether every link and anchor of the built site leads somewhere, and no page loads anything from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote, urlsplit

# The most that the first page may weigh with all that it loads, in bytes.
FIRST_PAGE = 200_000
# What a browser loads by itself, and from which attribute.
LOADED = {"img": ["src"], "script": ["src"], "iframe": ["src"], "source": ["src"], "video": ["src"], "object": ["data"]}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}


class Page(HTMLParser):
    """Anchors, links and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.images_without_text = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if "id" in values:
            if values["id"] in self.anchors:
                self.links.append(f"#twice:{values['id']}")
            self.anchors.add(values["id"])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        self.loads += [values[name] for name in LOADED.get(tag, []) if values.get(name)]
        if tag == "img" and not values.get("alt") and not values.get("aria-hidden"):
            self.images_without_text += 1
        if tag == "link" and set(values.get("rel", "").split()) & LOADED_LINKS:
            self.loads.append(values["href"])
        if tag == "style" or "style" in values:
            self.loads += re.findall(r"url\(\s*['\"]?([^'\")]+)", values.get("style", ""))


def pages(site: Path) -> dict[str, Page]:
    files = [path for path in sorted(site.rglob("*.html")) if not path.relative_to(site).as_posix().startswith("rust/")]
    return {path.relative_to(site).as_posix(): Page(path) for path in files}


def leaves(address: str) -> bool:
    return bool(urlsplit(address).scheme or urlsplit(address).netloc) and not address.startswith("data:")


def target_of(page: str, address: str) -> str:
    path = unquote(urlsplit(address).path)
    return normpath(f"{page}/../{path}") if path else page


def faults(site: Path, rust: Path | None) -> list[str]:
    """What is wrong, a line each."""
    found = pages(site)
    lines = []
    for name, page in found.items():
        if page.images_without_text:
            lines.append(f"{name}: {page.images_without_text} images without alternative text")
        for address in page.loads:
            if leaves(address):
                lines.append(f"{name}: loads {address} from elsewhere")
            elif not address.startswith("data:") and not (site / target_of(name, address)).is_file():
                lines.append(f"{name}: loads {address}, which does not exist")
        for address in page.links:
            if address.startswith("#twice:"):
                lines.append(f"{name}: the anchor {address.removeprefix('#twice:')} is there twice")
            elif not leaves(address) and (fault := broken(site, rust, found, name, address)):
                lines.append(f"{name}: {fault}")
    for style in site.rglob("*.css"):
        for address in re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", style.read_text(encoding="utf-8")):
            if leaves(address[0] or address[1]):
                lines.append(f"{style.relative_to(site)}: loads {address} from elsewhere")
    weight = first_page(site, found)
    if weight > FIRST_PAGE:
        lines.append(f"index.html: {weight} bytes with what it loads, more than {FIRST_PAGE}")
    return lines


def broken(site: Path, rust: Path | None, found: dict[str, Page], name: str, address: str) -> str | None:
    target, anchor = target_of(name, address), unquote(urlsplit(address).fragment)
    if target.startswith("rust/"):
        # rustdoc's pages are put there when the site is published.
        file = rust and rust / target.removeprefix("rust/")
        return f"links to {address}, which rustdoc did not write" if file and not file.is_file() else None
    if target in found:
        missing = anchor and anchor not in found[target].anchors
        return f"links to {address}, an anchor that {target} does not have" if missing else None
    return None if (site / target).is_file() else f"links to {address}, which does not exist"


def first_page(site: Path, found: dict[str, Page]) -> int:
    """Bytes of the first page with all that it loads, not compressed."""
    files = {"index.html", *(target_of("index.html", address) for address in found["index.html"].loads)}
    return sum((site / file).stat().st_size for file in files if (site / file).is_file())


def summary(site: Path) -> str:
    found = pages(site)
    links = sum(len(page.links) for page in found.values())
    weight = first_page(site, found)
    return f"{len(found)} pages, {links} links, none broken; nothing from elsewhere; first page {weight} bytes"
