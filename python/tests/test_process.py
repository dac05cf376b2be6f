"""Threads, interruption, overhead, types and examples."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

import leakbound
from leakbound import _core

PATE = {"model": "prompt-pate", "noise": "gaussian:40", "seed": 1}
PATE["query"] = [{"histogram": [100, 80, 70], "histogram_neighbor": [99, 81, 70]}]


def test_four_threads_at_once():
    expected = [leakbound.simulate.Simulation(PATE).run(samples=1e6, seed=seed).to_json() for seed in range(4)]
    found = {}

    def work(seed):
        found[seed] = [leakbound.simulate.Simulation(PATE).run(samples=1e6, seed=seed).to_json() for _ in range(5)]

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {seed: [expected[seed]] * 5 for seed in range(4)}


def test_ctrl_c_interrupts():
    program = f"""
import leakbound, signal
# Ignored where the tests were started in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    leakbound.simulate.Simulation({PATE!r}).run(samples=1e12, progress=lambda *_: print("on", flush=True))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "on\n"
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and "interrupted\n" in shown
    finally:
        process.kill()


def test_progress_shows_a_bar(capsys):
    alone = leakbound.simulate.Simulation(PATE).run(samples=3e6)
    assert leakbound.simulate.Simulation(PATE).run(samples=3e6, progress=True) == alone
    shown = capsys.readouterr().err
    # Two worlds of one query.
    assert "100%" in shown and "6000000/6000000" in shown and "outputs/s" in shown, shown


def test_attacks_tell_how_far_they_are(data):
    told = []
    recording = data / "fashion_lira_original.npz"
    leakbound.membership.lira(recording, resamples=0, progress=lambda *update: told.append(update))
    assert told and told[-1][0] == told[-1][1]
    assert all(0 < done <= total and unit == "samples" for done, total, unit in told)


def test_a_failing_callback_ends_the_work(data):
    def fail(done, total, unit):
        raise LookupError(f"at {unit}")

    with pytest.raises(LookupError, match="at outputs"):
        leakbound.simulate.Simulation(PATE).run(samples=1e12, progress=fail)
    with pytest.raises(LookupError, match="at samples"):
        leakbound.membership.lira(data / "fashion_lira_original.npz", progress=fail)
    with pytest.raises(LookupError, match="at attacks"):
        leakbound.membership.compare(data / "fashion_lira_original.npz", progress=fail)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_is_told_so():
    """Its threads stayed with its parent: an error, and no wait without end."""
    program = """
import os, leakbound
leakbound.accounting.exact([3, 1], [2, 2], noise="gaussian:2")
child = os.fork()
if child == 0:
    try:
        leakbound.accounting.exact([3, 1], [2, 2], noise="gaussian:2")
    except RuntimeError as error:
        os._exit(0 if "spawn" in str(error) else 2)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr


def test_every_example():
    found = 0
    for module in pkgutil.walk_packages(leakbound.__path__, "leakbound."):
        if module.name == "leakbound._core":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", leakbound.LeakboundWarning)
            try:
                imported = importlib.import_module(module.name)
            except ModuleNotFoundError as missing:
                # A hook for a package that need not be installed.
                assert missing.name in ("jax", "torch") and module.name.startswith("leakbound.canaries.")
                continue
            result = doctest.testmod(imported, extraglobs={"leakbound": leakbound})
        assert result.failed == 0, module.name
        found += result.attempted
    assert found > 40


def test_the_types_are_strict(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(
        "import numpy as np\n"
        "import leakbound\n"
        "scores = leakbound.canaries.CanaryScores(np.zeros(3), [0.0, 1.0])\n"
        "low: float = float(scores.epsilon(delta=1e-5, selection='split'))\n"
        "attack = leakbound.membership.lira(np.zeros((2, 3, 1, 4)), np.zeros(3, int), np.ones((2, 3), bool))\n"
        "rate: float = attack.levels[0].at[0].tpr\n"
        "bound: float = leakbound.audit.counts([1], [2], methods=['k-cut-box']).bounds[0].rdp_lower\n"
        "curve: leakbound.accounting.RdpCurve = 3 * leakbound.accounting.RdpCurve([2], [1])\n"
        "order: float = leakbound.accounting.exact([1, 2], noise='gaussian:1').divergences[0].order\n"
        "verdict: bool = leakbound.accounting.verify(lambda request: 1.0).refuted\n"
    )
    root = Path(__file__).parents[1]
    environment = {**os.environ, "MYPYPATH": str(root / "src")}
    words = [sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), "--cache-dir", str(tmp_path)]
    done = subprocess.run([*words, "user.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_package_is_typed():
    pytest.importorskip("mypy")
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-m", "mypy"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
