"""Functions as black boxes."""

from __future__ import annotations

import decimal
import fractions
import functools
import pickle
import signal
import subprocess
import sys
import traceback
from collections import namedtuple

import numpy as np
import pytest

import leakbound

pytestmark = pytest.mark.filterwarnings("ignore::leakbound.LeakboundWarning")

CLAIM = {"claim_epsilon": 1, "delta": 0, "relation": "add-remove", "runs": 4000}


def count(dataset, runs, rng, scale=1.0):
    """The number of records with Laplace noise on a grid: ε is 1 / scale."""
    return np.round(len(dataset) + rng.laplace(scale=scale, size=runs), 1)


def count_once(dataset, rng, scale=1.0):
    return round(len(dataset) + rng.laplace(scale=scale), 1)


def audit(function, dataset=(1, 1), **options):
    return leakbound.audit.mechanism(function, list(dataset), **{**CLAIM, **options})


def audit_pairs(function, pairs, **options):
    return leakbound.audit.mechanism(function, pairs=pairs, **{**CLAIM, "relation": None, **options})


def told(result):
    """What a result says of the outputs, without the name and options of the function."""
    document = result.to_dict()
    return {key: value for key, value in document.items() if key not in ("program", "options")}


def test_a_right_mechanism_is_not_refuted():
    result = audit(count, runs=20000)
    assert not result.refuted and result.raise_if_refuted() is result
    assert result.program == "count" and result.repeatable and result.counterexample is None
    # Chosen on other outputs than those that are bounded.
    assert 0.3 < result.epsilon_lower <= 1 and result.runs.bounded > 10000
    assert "no claim is refuted" in repr(result) and "Audit of count" in str(result)


def test_a_wrong_mechanism_is_refuted_in_one_line():
    result = audit(functools.partial(count, scale=0.4))
    assert result.refuted and result.claims[0].lower > 1
    with pytest.raises(leakbound.ClaimRefuted) as caught:
        result.raise_if_refuted()
    line = str(caught.value)
    found = result.counterexample
    assert isinstance(caught.value, AssertionError) and caught.value.result is result
    assert line.startswith("ε ≤ 1 at δ = 0 is refuted: at least ") and "\n" not in line
    for part in (str(list(found.dataset)), str(list(found.neighbor)), found.event, str(found.inside)):
        assert part in line
    assert "</html>" in result.to_html() and len(result.to_pandas()) == len(result.bounds)
    assert result.plot().get_ylabel() == "frequency"
    again = pickle.loads(pickle.dumps(result))
    assert again == result and again.counterexample == found


def test_early_stopping():
    result = audit(functools.partial(count, scale=0.2), stop_early=True, runs=20000)
    assert result.refuted and result.runs.search < 20000 and not len(result.bounds) and result.epsilon_lower == 0
    with pytest.raises(leakbound.ClaimRefuted, match="is refuted: at least 1 "):
        result.raise_if_refuted()


def test_both_forms_agree_and_repeat():
    every, once = audit(count), audit(count_once)
    assert told(every) == told(once)
    assert audit(count) == every and audit(count, threads=2).bounds == every.bounds
    other = audit(count, seed=1)
    assert other.repeatable and other.witness != every.witness
    assert told(audit(count, batch=100)) != told(every)


def test_arrays_and_lists_of_outputs_agree():
    found = [
        told(audit(lambda dataset, runs, rng, form=form: form(count(dataset, runs, rng))))
        for form in (
            np.asarray,
            list,
            tuple,
            np.ndarray.tolist,
            lambda numbers: numbers.astype(object),
            lambda numbers: np.asfortranarray(np.repeat(numbers, 2))[::2],
        )
    ]
    assert all(one == found[0] for one in found)


# A function that leaks a record, and the output for it.
FORMS = [
    ("strings", lambda yes: "yes" if yes else "no"),
    ("truth values", bool),
    ("nothing", lambda yes: None if yes else 0),
    ("truth values of NumPy", np.bool_),
    ("integers of NumPy", np.int16),
    ("single precision", np.float32),
    ("strings of NumPy", lambda yes: np.str_("a" * (1 + yes))),
    ("special numbers", lambda yes: float("nan") if yes else float("inf")),
    ("dicts", lambda yes: {"count": 3, "found": [yes, None], 7: {"x": np.arange(2)}}),
    ("lists", lambda yes: [1.0, "a"] * yes),
    ("tuples", lambda yes: (yes, 1)),
    ("named tuples", lambda yes: namedtuple("Answer", "kind value")("a", yes)),
    ("vectors", lambda yes: np.array([0.5, yes, 2])),
    ("vectors of truth values", lambda yes: np.array([True, yes])),
    ("matrices", lambda yes: np.full((2, 2), yes)),
    ("arrays of no axis", lambda yes: np.array(yes)),
    ("large numbers", lambda yes: 10**300 * yes),
]


@pytest.mark.parametrize("form", [form for _, form in FORMS], ids=[name for name, _ in FORMS])
def test_any_output(form):
    """Randomized response that lies one time in ten: ε is ln 9."""

    def once(dataset, rng):
        return form(bool(dataset[0]) ^ bool(rng.random() < 0.1))

    def every(dataset, runs, rng):
        return [once(dataset, rng) for _ in range(runs)]

    result = audit_pairs(once, [([0], [1])])
    assert result.refuted and 1.8 < result.epsilon_lower <= np.log(9) and result.tried == 1
    assert told(audit_pairs(every, [([0], [1])])) == told(result)


@pytest.mark.parametrize("kind", [float, np.float32, np.float16, np.int8, np.uint64, bool])
def test_numbers_of_every_kind(kind):
    def rows(dataset, runs, rng):
        lies = rng.random((runs, 3)) < 0.1
        return (lies ^ (np.asarray(dataset) > 0)).astype(kind)

    pairs = [([0, 0, 0], [1, 0, 0])]
    whole = audit_pairs(rows, pairs)
    assert whole.refuted and 1.8 < whole.epsilon_lower <= np.log(9)
    column = audit_pairs(lambda dataset, runs, rng: rows(dataset, runs, rng)[:, 0], pairs)
    assert column.refuted and column.epsilon_lower <= np.log(9)
    by_row = audit_pairs(lambda dataset, runs, rng: list(rows(dataset, runs, rng)), pairs)
    assert told(by_row) == told(whole)


def test_arrays_of_strings_and_of_matrices():
    def lies(dataset, runs, rng):
        return (rng.random(runs) < 0.1) ^ (dataset[0] > 0)

    pairs = [([0], [1])]
    def names(dataset, runs, rng):
        return np.where(lies(dataset, runs, rng), "yes", "no")

    def matrices(dataset, runs, rng):
        return np.repeat(lies(dataset, runs, rng), 4).reshape(-1, 2, 2)

    assert audit_pairs(names, pairs).refuted and audit_pairs(matrices, pairs).refuted


def test_datasets_are_what_the_caller_gave():
    seen = []

    def look(dataset, runs, rng):
        seen.append(dataset)
        return np.zeros(runs)

    audit(look, [1, 2.5], runs=200)
    assert all(type(dataset) is list for dataset in seen)
    for kind in (np.float32, np.int64, np.uint8):
        seen.clear()
        audit_pairs(look, [(np.array([1], kind), np.array([], kind))], runs=200)
        assert {len(dataset) for dataset in seen} == {0, 1}
        assert all(dataset.dtype == kind and dataset.ndim == 1 for dataset in seen)
    # Neighbors of whole numbers under a norm may be others.
    seen.clear()
    leakbound.audit.mechanism(look, np.array([1, 2]), **{**CLAIM, "relation": "l1:0.5"})
    assert any(0.5 in np.abs(dataset - np.round(dataset)) for dataset in seen)
    seen.clear()
    records = [{"age": 31, "tags": ["a", None]}, {"age": np.int64(4), "tags": []}]
    audit(look, records, runs=200)
    assert records in seen
    seen.clear()
    audit_pairs(look, [(np.array([1.0, 2.0]), np.array([1.0]))], runs=200)
    assert {tuple(dataset) for dataset in seen} == {(1.0, 2.0), (1.0,)} and seen[0].dtype == float
    seen.clear()
    leakbound.audit.mechanism(look, np.eye(2), **{**CLAIM, "runs": 200})
    assert [[1.0, 0.0], [0.0, 1.0]] in seen


@pytest.mark.parametrize("dataset", [[3, 1, 2], np.array([3, 1, 2]), [[3], [1], [2]]], ids=["list", "array", "nested"])
def test_a_function_may_change_its_dataset(dataset):
    def careless(records, rng):
        found = len(records)
        if isinstance(records, list):
            if records and isinstance(records[0], list):
                records[0].clear()
            records.clear()
        else:
            records[:] = 0
        return found

    result = audit_pairs(careless, [(dataset, dataset[:2])], runs=400)
    counts = {row.outcome: (row.count, row.count_neighbor) for row in result.witness.outcomes}
    assert counts["2"] == (0, result.runs.bounded) and counts["3"] == (result.runs.bounded, 0)


def test_long_datasets_and_files(tmp_path):
    long = list(range(2000))
    result = leakbound.audit.mechanism(count, long, **{**CLAIM, "runs": 200})
    assert result.inputs[0].size > 8000
    (tmp_path / "d.json").write_text("[1, 1]")
    assert told(leakbound.audit.mechanism(count, tmp_path / "d.json", **CLAIM))["bounds"] == told(audit(count))["bounds"]


def test_an_exception_ends_the_audit():
    calls = []

    def careless(dataset, rng):
        calls.append(dataset)
        return {}[f"missing in {dataset}"]

    with pytest.raises(KeyError, match="missing in") as caught:
        audit(careless, [4, 2])
    shown = "".join(traceback.format_exception(caught.type, caught.value, caught.tb))
    assert len(calls) == 1 and "careless" in shown and 'return {}[f"missing' in shown
    if sys.version_info >= (3, 11):
        assert "NotImplementedError" in shown and "the dataset [" in shown
    with pytest.raises(SystemExit):
        audit(lambda dataset, runs, rng: sys.exit(3))


def test_datasets_may_be_declined():
    def mean(dataset, runs, rng):
        if not dataset:
            raise NotImplementedError("no records")
        return np.mean(dataset) + rng.laplace(size=runs)

    result = audit(mean, [0, 1])
    assert any(pair.trouble == "it was rejected: no records" for pair in result.pairs)
    assert "pairs-without-outputs" in [warning.code for warning in result.warnings]
    with pytest.raises(leakbound.InputError, match="found it was rejected: no records, expected outputs"):
        audit_pairs(mean, [([], [1])])


@pytest.mark.parametrize(
    "function, sentence",
    [
        (lambda dataset, runs, rng: np.zeros(3), r"found an array of shape \[3\] with 3 outputs, expected 5"),
        (lambda dataset, runs, rng: [0.0] * (runs - 1), "found 4 outputs, expected 5"),
        (lambda dataset, runs, rng: 7.0, "found float, expected an array or a list of 5 outputs"),
        (lambda dataset, runs, rng: np.float64(7), "found float64, expected an array or a list of 5 outputs"),
        (lambda dataset, rng: {1, 2}, "found set as an output, expected a number"),
        (lambda dataset, rng: [1, b"x"], "found bytes as an output, expected a number"),
        (lambda dataset, rng: 1j, "found complex as an output, expected a number"),
        (lambda dataset, rng: np.array([1j]), "found complex as an output, expected a number"),
    ],
)
def test_outputs_that_are_none(function, sentence):
    with pytest.raises(leakbound.InputError, match=sentence):
        audit(function)


@pytest.mark.parametrize(
    "function",
    [lambda: 0, lambda dataset: 0, lambda a, b, c, d: 0, lambda dataset, rng, *, size: 0, lambda *all: 0, "python3"],
)
def test_functions_of_other_parameters(function):
    with pytest.raises(TypeError, match="expected a function of"):
        audit(function)


def test_parameters_with_defaults_are_left():
    assert told(audit(lambda dataset, rng, scale=1.0: count_once(dataset, rng, scale))) == told(audit(count))
    assert told(audit(lambda dataset, runs=1, rng=None: count(dataset, runs, rng))) == told(audit(count))

    class Count:
        def __call__(self, dataset, runs, rng):
            return count(dataset, runs, rng)

    assert told(audit(Count())) == told(audit(count)) and audit(Count()).program == "Count"


@pytest.mark.parametrize(
    "call, sentence",
    [
        ({"dataset": [1]}, "function: found None, expected a function, or a command line as `program` or `exec`"),
        ({"function": count, "dataset": [1], "program": "x"}, "function: found with `program`"),
        ({"function": count, "dataset": [1]}, "relation: found no value, expected one"),
        ({"function": count, "relation": "l1:1"}, "dataset: found no value, expected one"),
        ({"function": count, "dataset": [1], "relation": "near"}, "relation: relation `near` cannot be read; expected add-remove"),
        ({"function": count, "dataset": [float("nan")], "relation": "l1:1"}, "dataset: found a record that JSON"),
        ({"function": count, "dataset": [{1}], "relation": "l1:1"}, "an object of type set"),
        ({"function": count, "dataset": {"a": 1}, "relation": "l1:1"}, "dataset: found dict, expected a list"),
        ({"function": count, "dataset": ["a"], "relation": "l1:1"}, "l1:1 compares vectors of numbers"),
        ({"function": count, "pairs": [[1]]}, "pairs: found no list of pairs"),
        ({"function": count, "pairs": [([1], [1])]}, "the same dataset twice"),
        ({"function": count, "dataset": [1], "relation": "l1:1", "runs": 0}, "runs: `0` is not a whole number in"),
        ({"function": count, "dataset": [1], "relation": "l1:1", "domain": (1, 0)}, "domain"),
    ],
)
def test_arguments_that_are_rejected(call, sentence):
    with pytest.raises(leakbound.Error) as caught:
        leakbound.audit.mechanism(**call)
    assert sentence in str(caught.value) and "--" not in str(caught.value)


def test_domain():
    def exceeds(dataset, runs, rng):
        return np.round(sum(dataset) + rng.laplace(size=runs), 1)

    assert not audit(exceeds, [0, 1]).refuted and audit(exceeds, [0, 1], domain=(0, 5.5)).refuted


def test_progress_and_its_exception():
    updates = []
    audit(count, runs=2000, progress=lambda *update: updates.append(update))
    assert updates and all(done <= total and unit == "outputs" for done, total, unit in updates)

    def fail(done, total, unit):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        audit(count, progress=fail)


def test_the_time_limit_ends_a_function():
    def slow(dataset, rng):
        # 20 us, whatever the machine.
        return count_once(dataset, rng) + 0 * sum(range(1000))

    result = audit_pairs(slow, [([1], [])], runs=1e9, time_limit=1, batch=100)
    assert 0 < result.runs.bounded < 1e8


def test_ctrl_c_ends_a_function():
    program = """
import leakbound, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
calls = 0
def slow(dataset, rng):
    global calls
    calls += 1
    if calls == 1: print("on", flush=True)
    time.sleep(0.01)
    return 0
try:
    leakbound.audit.mechanism(slow, [1], relation="add-remove", runs=1e6)
except KeyboardInterrupt:
    before = calls
    time.sleep(0.2)
    print("interrupted", calls - before, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "on\n"
        process.send_signal(signal.SIGINT)
        shown, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and shown == "interrupted 0\n"
    finally:
        process.kill()


def test_claims_of_other_results():
    found = leakbound.audit.counts([600, 400], [500, 500], methods="k-cut-box", orders=2, claim_rdp={2: 1e-4})
    with pytest.raises(leakbound.ClaimRefuted, match="D ≤ 1e-4 at α = 2 is refuted: at least 0.0017"):
        found.raise_if_refuted()
    exact = leakbound.accounting.exact([14, 12], [13, 13], noise="gaussian:2", claim_rdp={2: 1e-6})
    with pytest.raises(leakbound.ClaimRefuted, match=r"D ≤ 1e-6 at α = 2 is refuted: at least .*\(exact\)"):
        exact.raise_if_refuted()
    half = leakbound.accounting.verify("broken:gnmax-half", cases=20, property="rdp-covers-exact")
    with pytest.raises(leakbound.ClaimRefuted, match="is refuted: rdp-covers-exact, by {.*histogram") as caught:
        half.raise_if_refuted()
    assert "\n" not in str(caught.value)
    assert leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2").raise_if_refuted().divergences


def test_a_counterexample_is_small_and_can_be_tested_again(tmp_path):
    case = tmp_path / "case.json"
    wrong = functools.partial(count, scale=0.4)
    found = audit(wrong, dataset=(1, 1, 1), runs=20000, save_counterexample=case).counterexample
    assert found.shrunk and len(found.dataset) + len(found.neighbor) == 1
    again = leakbound.audit.mechanism(wrong, counterexample=case, runs=4000)
    assert again.refuted and again.runs.search == 0
    assert again.counterexample.event == found.event
    mended = leakbound.audit.mechanism(count, counterexample=case, runs=4000)
    assert not mended.refuted
    with pytest.raises(leakbound.UsageError, match="function"):
        leakbound.audit.mechanism(None, relation="add-remove", dataset=[1])


def test_an_audit_goes_on_from_its_checkpoint(tmp_path):
    kept = tmp_path / "audit.checkpoint"
    calls = []

    def counted(dataset, runs, rng):
        calls.append(runs)
        return count(dataset, runs, rng)

    whole = audit(counted, checkpoint=kept)
    first = len(calls)
    resumed = audit(counted, checkpoint=kept, resume=True)
    # The search is not run again, nor are the outputs that were counted: one call asks whether the function is the same.
    assert len(calls) == first + 1
    assert resumed.bounds == whole.bounds and resumed.claims == whole.claims
    with pytest.raises(leakbound.InputError, match="already exists"):
        audit(counted, checkpoint=kept)


@pytest.mark.parametrize(
    "function",
    [
        lambda dataset, rng: 2**64 + len(dataset),
        lambda dataset, rng: -(2**70) - len(dataset),
        lambda dataset, rng: [0.5, 2**53 + len(dataset)],
        lambda dataset, rng: {"n": decimal.Decimal("0.1") + len(dataset) * decimal.Decimal("1e-25")},
        lambda dataset, rng: np.int64(2**60 + len(dataset)),
        lambda dataset, runs, rng: np.full(runs, 2**60 + len(dataset)),
        lambda dataset, runs, rng: np.full((runs, 2), 2**60 + len(dataset), dtype=np.uint64),
        lambda dataset, runs, rng: np.full(runs, 2**64 + len(dataset), dtype=object),
    ],
)
def test_numbers_count_in_all_their_digits(function):
    assert audit(function, stop_early=True, shrink_runs=0).refuted


def test_outputs_that_nothing_tells_apart_are_rejected_or_equal():
    with pytest.raises(leakbound.InputError, match="the key `1` comes twice in an object"):
        audit(lambda dataset, rng: {1: 0, "1": 1})
    with pytest.raises(leakbound.InputError, match=r"found 1/3 as an output, expected a decimal number"):
        audit(lambda dataset, rng: fractions.Fraction(1, 3))
    assert not audit(lambda dataset, rng: -0.0 if dataset else 0, stop_early=True).refuted
    assert not audit(lambda dataset, rng: fractions.Fraction(1, 2) if dataset else 0.5, stop_early=True).refuted


def test_rounded_outputs_show_no_binary_places():
    def naive(dataset, runs, rng):
        return len(dataset) + rng.laplace(size=runs)

    found = audit(naive, runs=40000)
    with pytest.raises(leakbound.ClaimRefuted, match="the last binary places of floating-point noise"):
        found.raise_if_refuted()
    rounded = audit(naive, runs=40000, round=1e-3).raise_if_refuted()
    assert (found.round, rounded.round) == (None, 1e-3) and "outputs rounded to multiples of 0.001" in str(rounded)
