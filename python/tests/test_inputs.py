"""Bad input ends with one clear sentence."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import pytest

import leakbound
from leakbound import InputError, UsageError

SCORES = np.linspace(-1, 1, 20)


def members(value):
    return lambda: leakbound.canaries.CanaryScores(value, SCORES).epsilon()


BAD_ARRAYS = [
    (members(np.array([1.0, None], dtype=object)), "members: found an object array, expected numbers"),
    (members(["a", "b"]), "members: found dtype <U1, expected numbers"),
    (members(SCORES + 0j), "members: found dtype complex128, expected numbers"),
    (members(SCORES.astype(np.longdouble)), "members: found dtype float128, expected numbers"),
    (members(SCORES[:0]), r"members: found an empty array of shape \(0,\), expected at least one value"),
    (members([]), r"members: found an empty array of shape \(0,\)"),
    (lambda: leakbound.audit.counts([], []), r"counts: found an empty array of shape \(0,\)"),
    (members(SCORES.reshape(4, 5)), r"members: found shape \(4, 5\), expected 1 axis"),
    (members([[1.0], [1.0, 2.0]]), "members: found no regular array"),
    (members(np.array([2**53 + 1, 0])), "members: found integers from 2.53 on"),
    (members(np.ma.masked_greater(SCORES, 0)), "members: found a masked array, expected a plain one"),
    (members(np.where(SCORES > 0.9, np.nan, SCORES)), r"members.*\[19\].*NaN"),
    (members("no/such.npy"), "no/such.npy"),
    (members(b"scores"), "members: found dtype"),
    (lambda: leakbound.audit.counts([1.5, 2], [1, 2]), "counts: found dtype float64, expected integers; hint: .*bins"),
    (lambda: leakbound.audit.counts([1, 2], [1.0, 2]), "counts_neighbor: found dtype float64, .*numpy.histogram"),
    (lambda: leakbound.audit.counts([-1, 2], [1, 2]), "counts: found -1, expected counts from 0 on"),
    (lambda: leakbound.audit.counts([1, 2, 3], [1, 2]), r"counts: found shapes \(3,\) and \(2,\)"),
    (lambda: leakbound.audit.counts([1, 2]), "counts: found list, expected a path, or the counts of both worlds"),
    (lambda: leakbound.audit.counts([1, 2], [2, 1], outcomes="abc"), "outcomes: found 3 names, expected one for each"),
    (lambda: leakbound.membership.lira(), "logits: found None, expected a recording"),
    (
        lambda: leakbound.membership.lira(np.zeros((2, 3, 1, 4), int), [0], [[True]]),
        "logits: found dtype int64, expected floating",
    ),
    (lambda: leakbound.membership.lira(scores=SCORES, keep=SCORES), "keep: found dtype float64, expected booleans"),
    (lambda: leakbound.membership.lira({"scores": SCORES}, keep=[True]), "labels: found with a whole recording"),
    (lambda: leakbound.audit.votes({}, model="pate", noise="gaussian:1"), "recording: found no array"),
    (lambda: leakbound.audit.votes({"votes": [object()]}, model="pate", noise="gaussian:1"), r"recording\['votes'\]"),
    (lambda: leakbound.audit.votes(3, model="pate", noise="gaussian:1"), "recording: found int, expected a path"),
    (lambda: leakbound.simulate.Simulation(3), "scenario: found int, expected a path"),
    (lambda: leakbound.simulate.Simulation({"model": object()}), "scenario: found object under 'model'"),
    (lambda: leakbound.simulate.merge([]), "parts: found none"),
    (lambda: leakbound.audit.stream([0, 1]), "in_neighbor: found None"),
    (lambda: leakbound.audit.stream([0, 1], [True]), "in_neighbor: found 1 worlds, expected one for each of 2 outputs"),
]


@pytest.mark.parametrize(("call", "sentence"), BAD_ARRAYS)
def test_bad_data(call, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value) and isinstance(caught.value, ValueError)


def exact(**options):
    return lambda: leakbound.accounting.exact([5, 3], [4, 4], **{"noise": "gaussian:1", **options})


BAD_ARGUMENTS = [
    (exact(orders=[]), r"orders: found \[\], expected a list with at least one value"),
    (exact(orders=np.ones((2, 2))), "orders: found an array of 2 axes"),
    (exact(orders=[2, None]), "orders: found None, expected a number or a name"),
    (exact(orders=[2, True]), "orders: found bool True, expected a number or a name"),
    (exact(delta=object), "delta: found type"),
    (exact(noise="gaussian:-2"), r"^noise: found `gaussian:-2`: noise scale = -2 is not in \(0, inf\)$"),
    (exact(orders=0.5), r"^orders: .*0\.5 is not in \(1, inf\)$"),
    (exact(delta=float("nan")), r"^delta: .*delta = NaN is not in \[0, 1\)$"),
    (exact(progress="yes"), "progress: found str, expected True or a function"),
    (lambda: leakbound.canaries.CanaryScores(SCORES, SCORES).tpr_at_fpr(2), "fpr: found 2, expected a rate from 0 to 1"),
    (
        lambda: leakbound.canaries.CanaryScores(SCORES, SCORES).epsilon(selection="best"),
        "^selection: found `best`: expected split, ",
    ),
    (lambda: leakbound.audit.clopper_pearson(-1, 3, 0.05), "successes: found -1, expected a count from 0 on"),
    (lambda: leakbound.audit.clopper_pearson(0.5, 3, 0.05), "successes: found 0.5, expected a count"),
    (lambda: leakbound.audit.clopper_pearson(4, 3, 0.05), "4"),
    (lambda: leakbound.audit.clopper_pearson(1, 3, 2.0), "2"),
    (lambda: leakbound.accounting.verify(3), "accountant: found int, expected a name or a function"),
    (lambda: leakbound.audit.self_check(leakbound.canaries.CanaryScores(SCORES, SCORES), methods="all"), "^methods: the command does not have this option$"),
    (exact(noise="gauss"), r"^noise: noise `gauss` cannot be read; expected "),
    (exact(noise=None, mechanism="gauss:sigma=1"), "^mechanism: .*unknown mechanism `gauss`; did you mean `"),
    (exact(claim_rdp={}), "^claim_rdp: found {}, expected a table of orders and values with at least one of them$"),
    (exact(claim_epsilon=False), "^claim_epsilon: found false, expected a number"),
    (exact(claim_epsilon=True), "^claim_epsilon: found true, expected a number"),
    (exact(claim_epsilon=np.bool_(False)), "^claim_epsilon: found false, expected a number"),
    (exact(claim_epsilon=float("nan")), r"^claim_epsilon: .*epsilon = NaN is not in \[0, inf\)$"),
    (exact(claim_epsilon=float("inf")), r"^claim_epsilon: .*epsilon = inf is not in \[0, inf\)$"),
    (exact(claim_rdp={2: float("nan")}), r"^claim_rdp: .*Rényi divergence = NaN is not in \[0, inf\)$"),
    (exact(epsilons=[float("nan")]), r"^epsilons: .*epsilon = NaN is not in \[0, inf\)$"),
    (exact(epsilons=[]), r"^epsilons: found \[\], expected a list with at least one value$"),
    (
        lambda: leakbound.audit.counts([1, 2], [2, 1], resamples=50),
        r"^resamples: .*50.*\[100, 10\^6\]",
    ),
    (exact(claim_rdp={2: -1}), r"^claim_rdp: .*Rényi divergence = -1 is not in \[0, inf\)$"),
    (exact(threshold=3), "^threshold_noise: found no value, expected one$"),
    (exact(threshold=3, threshold_noise="laplace:2"), "^threshold_noise: the threshold test has Gaussian noise"),
    (exact(noise="x" * 100_000), r"^noise: noise `x{80}\.\.\.` cannot be read; expected "),
]


@pytest.mark.parametrize(("call", "sentence"), BAD_ARGUMENTS)
def test_bad_arguments(call, sentence):
    with pytest.raises(UsageError, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value) and isinstance(caught.value, ValueError)
    assert "--" not in str(caught.value) and len(str(caught.value)) < 500


SCORED = leakbound.canaries.CanaryScores(SCORES, SCORES)
RECORDED = {"scores": np.zeros((4, 3)), "keep": np.eye(4, 3, dtype=bool)}
PATE = {"model": "prompt-pate", "noise": "gaussian:1", "histogram": [3, 1], "histogram_neighbor": [2, 2]}
CALLS = [
    functools.partial(leakbound.accounting.exact, [5, 3], [4, 4], noise="gaussian:1"),
    functools.partial(leakbound.audit.counts, [5, 3], [4, 4]),
    functools.partial(leakbound.audit.confusion, tp=1, fn=1, fp=1, tn=1),
    functools.partial(leakbound.audit.votes, {"votes": [[1]]}, model="pate", noise="gaussian:1"),
    functools.partial(leakbound.audit.stream, [0, 1], [True, False]),
    SCORED.audit,
    SCORED.epsilon_one_run,
    *(
        functools.partial(attack, RECORDED)
        for attack in (
            leakbound.membership.lira,
            leakbound.membership.label_only,
            leakbound.membership.threshold,
            leakbound.membership.rmia,
            leakbound.membership.risk,
            leakbound.membership.attacker,
            leakbound.membership.compare,
        )
    ),
    functools.partial(leakbound.membership.memorization, {"probabilities": np.eye(2), "labels_true": [0, 1]}),
    functools.partial(leakbound.membership.property_distance, {"student": np.eye(2)}),
    leakbound.simulate.Simulation(PATE).run,
    functools.partial(leakbound.accounting.account, PATE),
    functools.partial(leakbound.audit.self_check, [5, 3], [4, 4]),
    functools.partial(leakbound.simulate.bench, work="fixed", seconds=0),
    functools.partial(leakbound.accounting.verify, "gnmax-worst-case", cases=1),
]
# Data, and what is checked where it is used.
ELSEWHERE = {
    "progress",
    "logits",
    "labels",
    "keep",
    "scores",
    "pilot",
    "distribution",
    "train",
    "outcomes",
    "state",
    "checkpoint",
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: getattr(call, "func", call).__name__)
def test_an_error_begins_with_the_parameter(call):
    found = 0
    for name, parameter in inspect.signature(call).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY or name in ELSEWHERE or "Sequence" in str(parameter.annotation):
            continue
        if isinstance(parameter.default, bool):
            continue
        with pytest.raises(UsageError, match=rf"^{name}: .*no such") as caught:
            call(**{name: "no such"})
        assert "--" not in str(caught.value) and "\n" not in str(caught.value)
        assert caught.value.parameter == name
        found += 1
    assert found >= 3


def test_data_in_memory_have_the_name_of_their_argument():
    unknown = {"release": [{"mechanism": "nothing:sigma=2"}]}
    for name, call in [
        ("releases", lambda: leakbound.accounting.account(unknown)),
        ("releases", lambda: leakbound.mechanisms.Releases(unknown["release"]).epsilon(1e-5)),
        ("counts", lambda: leakbound.audit.counts(([1, 2], [1, 2]), outcomes=["a", "a"])),
        ("parts", lambda: leakbound.simulate.merge([leakbound.audit.confusion(tp=1, fn=1, fp=1, tn=1)])),
    ]:
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.parameter.rstrip("0123456789") in (name, name[:-1]), caught.value
        assert str(caught.value).startswith(f"{caught.value.parameter}: "), caught.value
        assert ".toml" not in str(caught.value) and ".csv" not in str(caught.value), caught.value


def test_warnings_speak_of_parameters():
    with pytest.warns(leakbound.LeakboundWarning, match=r"a pilot fraction of 0\.1") as caught:
        result = leakbound.audit.counts([600, 300, 100], [500, 300, 200], methods="two-cut-corner", orders=2)
    assert "--" not in str(caught[0].message)
    # So does the document, which is the command's.
    assert "a pilot fraction of 0.1" in result.warnings[0].hint


def test_unknown_arguments_are_rejected_by_python():
    with pytest.raises(TypeError, match="order"):
        leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:1", order=2)


KINDS = {
    "big-endian": lambda scores: scores.astype(">f8"),
    "strided": lambda scores: np.repeat(scores, 2)[::2],
    "reversed": lambda scores: scores[::-1].copy()[::-1],
    "half": lambda scores: scores.astype(np.float16).astype(np.float64).astype(np.float16),
    "read-only": lambda scores: np.broadcast_to(scores, (20,)),
    "list": lambda scores: scores.tolist(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_layouts_do_not_matter(kind):
    # Halves are exact in all of the types.
    scores = np.arange(20) / 2
    expected = leakbound.canaries.CanaryScores(scores, scores - 4).epsilon()
    found = leakbound.canaries.CanaryScores(KINDS[kind](scores), KINDS[kind](scores - 4)).epsilon()
    assert found.epsilon == expected.epsilon and found.rates == expected.rates


def test_layouts_of_logits_do_not_matter():
    random = np.random.default_rng(3)
    keep = random.permuted(np.tile(np.arange(8) % 2 == 0, (12, 1)), axis=1).T
    logits = random.normal(size=(8, 12, 2, 3)).astype(np.float32)
    labels = random.integers(0, 3, 12)
    expected = leakbound.membership.lira(logits, labels, keep, resamples=0)
    for other in (logits.astype(">f4"), np.asfortranarray(logits), np.repeat(logits, 2, axis=1)[:, ::2]):
        found = leakbound.membership.lira(other, labels.astype(">i8"), np.asfortranarray(keep), resamples=0)
        assert found.levels == expected.levels and found.roc == expected.roc


def test_a_path_spelled_like_an_argument_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("members.npy", SCORES)
    found = leakbound.canaries.CanaryScores(SCORES + 3, "members.npy").epsilon(threshold=1.5)
    assert found.epsilon_lower > 0.5


def test_a_path_is_no_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("--flip", SCORES)
    assert leakbound.canaries.CanaryScores("--flip.npy", SCORES).epsilon().members == 20


def test_scalars_of_numpy_are_numbers():
    expected = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:1", orders=2, delta=0.25)
    assert leakbound.audit.confusion(tp=9, fn=1, fp=1, tn=9, trade_off=np.True_).trade_off
    assert not leakbound.audit.confusion(tp=9, fn=1, fp=1, tn=9, trade_off=np.False_).trade_off
    for two, quarter in ((np.int64(2), np.float32(0.25)), (np.array(2), np.array(0.25)), ([2.0], np.float16(0.25))):
        found = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:1", orders=two, delta=quarter)
        assert found.to_json() == expected.to_json()
