"""What the package shows to those who read, type and check it."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import leakbound

MODULES = ["accounting", "audit", "canaries", "membership", "mechanisms", "prompts", "simulate", "distributed", "results", "documents"]
FIRST = {"accounting", "audit", "membership", "mechanisms", "simulate"}
# The summary stands beside the quotes, and not every function has more to say than its sections.
STYLE = {"GL01", "ES01", "SA01"}


def public():
    """Every public name with its object."""
    for name in leakbound.__all__:
        if inspect.isclass(found := getattr(leakbound, name)):
            yield f"leakbound.{name}", found
    for name in MODULES:
        module = importlib.import_module(f"leakbound.{name}")
        own = [name for name, found in vars(module).items() if getattr(found, "__module__", "") == module.__name__]
        for public in getattr(module, "__all__", own):
            yield f"leakbound.{name}.{public}", getattr(module, public)


def test_the_package_shows_few_names():
    assert len(dir(leakbound)) <= 40 and set(leakbound.__all__) == set(dir(leakbound))
    assert all(getattr(leakbound, name) is not None for name in dir(leakbound))


def test_documentation_is_that_of_numpydoc():
    validate = pytest.importorskip("numpydoc.validate").validate
    wrong = []
    for name, found in public():
        own = {"EX01"} if inspect.isclass(found) or name.split(".")[1] not in FIRST else set()
        # Errors are caught, and not made.
        own |= {"PR01"} if inspect.isclass(found) and issubclass(found, Exception) else set()
        # Greek letters have no capitals in formulas.
        own |= {"SS02"} if (found.__doc__ or "")[:1] in "εδμ" else set()
        wrong += [f"{name}: {code} {text}" for code, text in validate(name)["errors"] if code not in STYLE | own]
    assert not wrong, "\n".join(wrong)


def test_results_are_frozen_dataclasses():
    found = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2", orders=2)
    row = found.divergences[0]
    assert dataclasses.is_dataclass(row) and dataclasses.is_dataclass(found)
    assert [field.name for field in dataclasses.fields(row)][:3] == ["order", "forward", "reverse"]
    for item in (row, found):
        with pytest.raises(dataclasses.FrozenInstanceError):
            item.order = 3
    copied = row.to_dict()
    copied["order"] = 3
    assert row.order == 2 and type(row)(**row.to_dict()) == row and dataclasses.replace(row, **copied).order == 3
    again = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2", orders=2)
    other = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2", orders=2, seed=1)
    assert again == found != other and again.divergences == other.divergences


def test_errors_name_their_parameter():
    for call, parameter in [
        (lambda: leakbound.accounting.exact([5, 3], [4, 4], noise="gauss"), "noise"),
        (lambda: leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2", orders=[]), "orders"),
        (lambda: leakbound.audit.counts([1.5], [2]), "counts"),
        (lambda: leakbound.audit.counts("missing.csv"), None),
        (lambda: leakbound.audit.mechanism(), "function"),
    ]:
        with pytest.raises(leakbound.Error) as caught:
            call()
        assert caught.value.parameter == parameter
        assert parameter is None or str(caught.value).startswith(f"{parameter}: ")


def test_mechanisms_are_their_text_forms():
    of = leakbound.mechanisms
    step = of.Gaussian(sigma=1.1).poisson(0.01)
    assert str(step) == "subsampled-gaussian:sigma=1.1,rate=0.01" and of.Gaussian(40) == of.Gaussian(sigma=np.float64(40))
    assert of.RandomizedResponse(sigma=1).spec == "randomized-response:sigma=1"
    assert of.Laplace(sigma=2).poisson(0.5).spec == "poisson:rate=0.5,of=[laplace:sigma=2]"
    with pytest.raises(TypeError, match="Gaussian has no scale"):
        of.Gaussian(sigma=1, scale=2)
    with pytest.raises(TypeError, match="Gaussian needs sigma"):
        of.Gaussian()
    with pytest.raises(dataclasses.FrozenInstanceError):
        of.Gaussian(sigma=1).sigma = 2
    exact = leakbound.accounting.exact(mechanism=of.Gaussian(sigma=2), orders=2)
    assert exact == leakbound.accounting.exact(mechanism="gaussian:sigma=2", orders=2)


def test_mechanisms_stand_for_noise_and_travel():
    of = leakbound.mechanisms
    votes = [14, 12, 10, 8, 6], [13, 13, 10, 8, 6]
    named = leakbound.accounting.exact(*votes, noise="gaussian:2", orders=2)
    for options in ({"noise": of.Gaussian(sigma=2)}, {"mechanism": of.NoisyArgmax(noise=of.Gaussian(2))}):
        assert leakbound.accounting.exact(*votes, orders=2, **options).divergences == named.divergences
    found = leakbound.accounting.calibrate(of.Laplace(sigma="?"), epsilon=0.5, delta=0)
    assert 2 <= found.scale < 2.0005
    for thing in (of.Staircase(sigma=1), of.Gaussian(2).poisson(0.5), 3 * of.Laplace(1) | of.Gaussian(2)):
        assert pickle.loads(pickle.dumps(thing)) == thing == copy.deepcopy(thing)


def test_releases_compose():
    of = leakbound.mechanisms
    step, survey = of.Gaussian(sigma=0.8).poisson(0.01), of.Laplace(sigma=20)
    both = 1000 * step | survey
    whole = both.account(composition="pld")
    assert whole == leakbound.accounting.account(both, composition="pld")
    # Two directions, and more releases leak more.
    assert (step * 1000).epsilon(1e-5).upper < both.epsilon(1e-5).upper == whole.losses.epsilon.upper
    nested = 10 * (step * 100 | survey)
    assert nested.to_releases()["release"][0]["times"] == 10 and nested.epsilon(1e-5).upper > both.epsilon(1e-5).upper
    for times in (0, -1, 2.5, 10**30, True):
        with pytest.raises(leakbound.UsageError, match="times: found .*, expected a whole number from 1 to 2.53"):
            _ = step * times
    # A sample of a sample is one of the product of both rates.
    twice, once = (100 * of.Gaussian(0.8).poisson(0.1).poisson(0.1)).epsilon(1e-5), (step * 100).epsilon(1e-5)
    assert twice.lower <= once.upper and once.lower <= twice.upper
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = step | 3
    for noise in (step, "gaussian:1"):
        with pytest.raises(leakbound.UsageError, match="^noise: found .*, expected Gaussian or Laplace"):
            of.NoisyArgmax(noise)
    with pytest.raises(leakbound.UsageError, match="^noise: found bytes"):
        leakbound.accounting.exact([5, 3], [4, 4], noise=b"gaussian:1")


USER = """\
import leakbound
exact = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:1")
{line}
"""
WRONG = [
    "exact.divergencse",
    "exact.divergences[0].backward",
    "exact.divergences[0].order = 3",
    'leakbound.audit.counts([1], [2], direction="sideways")',
    "leakbound.audit.counts([1], [2], failure=0.1)",
    'leakbound.accounting.exact([5, 3], worst_neighbor="away")',
    "leakbound.mechanisms.Gaussian(scale=2)",
]


def checkers():
    # The second is pyright, with all that it needs in its wheel.
    return [[sys.executable, "-m", "mypy", "--strict"], [sys.executable, "-m", "basedpyright"]]


@pytest.mark.parametrize("words", checkers(), ids=["mypy", "pyright"])
def test_type_checkers_reject_what_is_misspelled(words, tmp_path):
    pytest.importorskip(words[2])
    for number, line in enumerate(["print(exact.divergences[0].forward)", *WRONG]):
        (tmp_path / f"user{number}.py").write_text(USER.format(line=line))
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    root = Path(__file__).parents[1]
    environment = {**os.environ, "MYPYPATH": str(root / "src"), "PYTHONPATH": str(root / "src")}
    done = subprocess.run([*words, "."], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    found = {line.split(":")[0].strip().split("/")[-1] for line in done.stdout.splitlines() if "error" in line and "user" in line}
    assert found == {f"user{number}.py" for number in range(1, len(WRONG) + 1)}, done.stdout
