"""The tools that check the site notice what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/tools"))

check_examples = pytest.importorskip("check_examples")
check_links = pytest.importorskip("check_links")


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a", "a\nb\n", False),
        ("a\n...\nd", "a\nb\nc\nd", True),
        ("...\nd", "a\nd", True),
        ("a\n...", "a", True),
        ("a\n...\nb\n...\nd", "a\nx\nb\nd", True),
        ("a\n...\nb\n...\nd", "a\nx\nd", False),
        ("a\n...\na", "a", False),
    ],
)
def test_output_is_that_shown_and_nothing_else(shown, printed, same):
    assert check_examples.matches(shown, printed) is same


def test_a_session_is_its_commands():
    text = "$ echo a \\\n  b\na b\n$ true\n"
    assert check_examples.session(text) == [("echo a \\\n  b", "a b"), ("true", "")]


def test_notes_belong_to_the_next_block_only():
    page = "<!-- not run: no cluster -->\n```sh\na\n```\n\n```console\n$ b\n```\n```text\nc\n```\n"
    first, second, third = check_examples.blocks(page)
    assert first.note == ("not run", "no cluster") and second.note is None
    assert (first.below, second.below, third.below) == (-1, 0, 1)


def test_broken_links_and_foreign_files_are_found(tmp_path):
    (tmp_path / "other.html").write_text('<p id="there"></p>')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#there">a</a><a href="other.html#gone">b</a><a href="gone.html">c</a><a href="https://e.org">d</a>'
        '<script src="https://e.org/x.js"></script><img src="gone.png" alt="x"><img src="data:," ><a href="rust/x.html">e</a>'
    )
    faults = check_links.faults(tmp_path, tmp_path)
    assert [line.split(": ", 1)[1] for line in faults] == [
        "1 images without alternative text",
        "loads https://e.org/x.js from elsewhere",
        "loads gone.png, which does not exist",
        "links to other.html#gone, an anchor that other.html does not have",
        "links to gone.html, which does not exist",
        "links to rust/x.html, which rustdoc did not write",
    ]
