"""The command that comes with the package."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import leakbound

SCRIPT = Path(sys.executable).with_name("leakbound")
EXACT = ["exact", "--histogram", "14,12,10,8,6", "--neighbor", "13,13,10,8,6", "--noise", "gaussian:2"]


def run(*words: str, program: tuple[str, ...] = (str(SCRIPT),)) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*program, *words], capture_output=True, text=True, check=False)


def test_the_script_and_the_module_are_the_command() -> None:
    command = os.environ["LEAKBOUND_COMMAND"]
    expected = run(*EXACT, "--format", "json", program=(command,))
    assert expected.returncode == 0
    for program in [(str(SCRIPT),), (sys.executable, "-m", "leakbound")]:
        found = run(*EXACT, "--format", "json", program=program)
        assert (found.returncode, found.stdout, found.stderr) == (0, expected.stdout, expected.stderr)


def test_version_help_and_statuses() -> None:
    assert run("--version").stdout == f"leakbound {leakbound.__version__}\n"
    assert "Usage: leakbound" in run("--help").stdout
    wrong = run("exact", "--histogram", "x")
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: ") and wrong.stdout == ""
    missing = run("audit", "counts", "missing.csv")
    assert missing.returncode == 1 and "missing.csv" in missing.stderr and len(missing.stderr.splitlines()) == 1
    refuted = run("verify", "--accountant", "broken:gnmax-half", "--cases", "200")
    assert refuted.returncode == 3


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_it(scenarios: Path) -> None:
    words = ["simulate", str(scenarios / "pate.toml"), "--samples", "1e13"]
    with subprocess.Popen([str(SCRIPT), *words], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(2)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    # Where nothing is to be saved the signal ends it, which a shell shows as 130 too.
    assert process.returncode in (130, -signal.SIGINT), error
    assert "Traceback" not in error
