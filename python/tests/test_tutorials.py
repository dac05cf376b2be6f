"""The tutorials run, and draw the figures that are committed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parents[1] / "tutorials"
FIGURES = {
    "1_audit_votes.py": {"votes.png", "votes_account.png"},
    "2_lira.py": {"lira_roc.png", "lira_samples.png"},
    "3_check_my_accountant.py": {"accountant.png"},
    "4_audit_one_run.py": {"one_run.png"},
}


def test_every_tutorial_is_tested():
    assert set(FIGURES) == {path.name for path in TUTORIALS.glob("*.py")}
    assert set().union(*FIGURES.values()) == {path.name for path in (TUTORIALS / "figures").iterdir()}


@pytest.mark.parametrize("name", FIGURES)
def test_tutorial(name, tmp_path):
    done = subprocess.run([sys.executable, TUTORIALS / name, tmp_path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == FIGURES[name]
    assert all(path.stat().st_size > 5000 for path in tmp_path.iterdir())


def test_the_example_of_a_test_passes():
    example = Path(__file__).parents[2] / "examples" / "test_noisy_count.py"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", example]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=example.parent)
    assert done.returncode == 0, done.stdout + done.stderr
