"""Settings of Sphinx. `cargo xtask site` runs it on the pages that docs/tools/build_site.py puts together."""

from __future__ import annotations

import os
import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

project = "leakbound"
author = copyright = "the leakbound developers"
version = release = os.environ.get("LEAKBOUND_VERSION", "")
html_baseurl = os.environ.get("LEAKBOUND_DOCUMENTATION", "") + "/"

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["tools"]
nitpicky = True
# Blocks of JSON and of text are not highlighted, whatever they look like.
highlight_language = "text"

myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 3
# The dated results and the changelog keep the headings that they have.
suppress_warnings = ["myst.header"]

html_theme = "furo"
html_title = "leakbound"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["leakbound.css"]
html_extra_path = ["extra"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_permalinks_icon = "#"
html_theme_options = {
    "light_css_variables": {"font-stack": "system-ui, sans-serif", "font-stack--monospace": "ui-monospace, monospace"},
    "navigation_with_keys": True,
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

# A copied session is its commands.
copybutton_prompt_text = "$ "
copybutton_line_continuation_character = "\\"


def inline_svg(path: Path, alt: str) -> str:
    """A figure as part of the page, so that its colors follow the page; names in it become names of their own."""
    svg = re.sub(r"<\?xml[^>]*\?>\s*", "", path.read_text(encoding="utf-8")).strip()
    own = re.sub(r"\W+", "-", path.stem)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{own}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{own}-\1)", svg)
    svg = re.sub(r'aria-labelledby="([^"]+)"', f'aria-label="{escape(alt, quote=True)}"', svg, count=1)
    return f'<div class="figure-svg">{svg}</div>'


class InlineFigures(SphinxPostTransform):
    """Puts SVG images into the page."""

    default_priority = 5
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for image in list(self.document.findall(nodes.image)):
            path = Path(self.app.srcdir) / image["uri"]
            if path.suffix != ".svg":
                continue
            if not image.get("alt"):
                raise ValueError(f"{image['uri']}: a figure without alternative text")
            image.replace_self(nodes.raw("", inline_svg(path, image["alt"]), format="html"))


def visit_math(self: Any, node: nodes.Element) -> None:
    self.body.append(latex2mathml.tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.Element) -> None:
    self.body.append(f'<div class="math">{latex2mathml.tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(InlineFigures)
    # MathML, which browsers draw themselves: no page loads anything from elsewhere.
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


html_math_renderer = "mathml"
