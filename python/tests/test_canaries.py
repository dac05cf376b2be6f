"""Canaries of one training run: plans, examples, gradients, and audits that find what the forecast says."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import digits, validators

import leakbound
from leakbound import canaries

pytestmark = pytest.mark.filterwarnings("ignore::leakbound.LeakboundWarning")

SIGMA, RATE, STEPS = 2.5, 0.1, 100


@pytest.fixture(scope="module")
def claimed():
    """A plan for a training of known noise."""
    mechanism = f"subsampled-gaussian:sigma={SIGMA},rate={RATE}"
    return leakbound.canaries.plan(1000, mechanism=mechanism, times=STEPS, seed=5)


def new_plan(seed, n=1000, **claim):
    return leakbound.canaries.plan(n, seed=seed, **(claim or {"claim_epsilon": 4}), repetitions=20)


def test_documents_are_those_of_the_commands(command, tmp_path):
    plan = new_plan(3, n=200)
    text = command(*"canaries plan --canaries 200 --claim-epsilon 4 --seed 3 --repetitions 20".split())
    assert digits(plan.to_json(), True) == digits(text, True)
    validators()["canaries plan"].validate(plan.to_dict())
    plan.save(tmp_path / "plan.json")
    scores = np.random.default_rng(0).normal(size=200) + 2 * plan.coins
    np.save(tmp_path / "scores.npy", scores)
    audit = plan.audit(scores, repetitions=20)
    text = command(
        "canaries", "audit", str(tmp_path / "plan.json"), str(tmp_path / "scores.npy"), "--repetitions", "20"
    )
    assert (audit.epsilon_lower, audit.plan_sha256) == (
        max(row["lower"] for row in json.loads(text)["epsilon"]),
        plan.sha256,
    )
    validators()["canaries audit"].validate(audit.to_dict())
    assert plan.members == plan.coins.sum() and f"{plan.members} of them" in repr(plan)
    assert plan.to_pandas()["member"].tolist() == plan.coins.tolist()


def test_coins_of_the_system_differ_and_plans_are_not_reused(tmp_path):
    first, second = (leakbound.canaries.plan(64) for _ in range(2))
    assert (first.coins != second.coins).any() and first.sha256 != second.sha256
    first.audit(np.arange(64.0))
    first.audit(np.arange(64.0))
    with pytest.raises(leakbound.UsageError, match="take a new plan for every run"):
        first.audit(np.arange(64.0)[::-1])
    second.save(tmp_path / "plan.json")
    with pytest.raises(leakbound.InputError, match="a plan is not replaced"):
        first.save(tmp_path / "plan.json")
    edited = json.loads((tmp_path / "plan.json").read_text())
    edited["plan"]["failure_probability"] = 0.5
    (tmp_path / "edited.json").write_text(json.dumps(edited))
    with pytest.raises(leakbound.InputError, match="sha256: found a plan with"):
        leakbound.results.CanaryPlan.load(tmp_path / "edited.json").audit(np.zeros(64))
    (tmp_path / "other.json").write_text(leakbound.accounting.exact([3, 2], [2, 3], noise="gaussian:2").to_json())
    with pytest.raises(leakbound.InputError, match="found no plan"):
        leakbound.results.CanaryPlan.load(tmp_path / "other.json")
    with pytest.raises(ValueError, match="expected 64 scores, one for each canary"):
        second.audit(np.zeros(65))


def test_the_best_of_planned_attacks_is_a_bound(tmp_path):
    """Losses, which are low for members, of two attacks: the better one with half of the failure probability."""
    plan = leakbound.canaries.plan(200, claim_epsilon=4, attacks=2, flip=True, seed=3, repetitions=20)
    half = leakbound.canaries.plan(
        200, claim_epsilon=4, failure_probability=0.025, flip=True, seed=3, repetitions=20
    )
    random = np.random.default_rng(0)
    clear, vague = (random.normal(size=200) - shift * plan.coins for shift in (3, 0))
    audit = plan.audit([vague, clear], repetitions=20)
    assert [row.scores for row in audit.attacks] == ["scores0.npy", "scores1.npy"]
    assert audit.epsilon_lower == audit.attacks[1].epsilon == half.audit(clear, repetitions=20).epsilon_lower > 0
    assert audit.epsilon[0].failure_probability == 0.05
    assert plan.audit(np.stack([vague, clear]), repetitions=20).epsilon_lower == audit.epsilon_lower
    np.save(tmp_path / "clear.npy", clear)
    with pytest.raises(leakbound.UsageError, match="take a new plan for every run"):
        plan.audit([vague, tmp_path / "clear.npy"])
    files = leakbound.canaries.audit(plan, [vague, tmp_path / "clear.npy"], repetitions=20)
    assert files.epsilon_lower == audit.epsilon_lower
    with pytest.raises(leakbound.UsageError, match="3 sets of scores, expected 1 to 2, as planned"):
        leakbound.canaries.audit(plan, [vague] * 3)


def test_examples_enter_by_their_coins():
    random = np.random.default_rng(1)
    plan = new_plan(2, n=100)
    images, labels = random.random((300, 4, 4), np.float32), random.integers(10, size=300)
    chosen = canaries.mislabeled(images[:100], labels[:100], classes=10, seed=3)
    assert (chosen.labels != labels[:100]).all() and set(chosen.labels) == set(range(10))
    joined, joined_labels = chosen.inserted(plan, images[100:], labels[100:])
    assert np.array_equal(joined[:200], images[100:]) and np.array_equal(joined[200:], images[:100][plan.coins])
    assert np.array_equal(joined_labels[200:], chosen.labels[plan.coins])
    assert chosen.sha256 != canaries.mislabeled(images[:100], labels[:100], classes=10, seed=4).sha256
    drawn = canaries.random_images(100, (1, 28, 28), classes=10, low=-1, seed=1)
    assert drawn.inputs.shape == (100, 1, 28, 28) and set(np.unique(drawn.inputs)) == {-1.0, 1.0}
    tokens = canaries.random_tokens(100, 12, vocabulary=50)
    (texts,) = tokens.inserted(plan, np.zeros((5, 12), np.int64))
    assert texts.shape == (5 + plan.members, 12) and tokens.inputs.max() < 50


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: canaries.mislabeled(np.zeros((3, 2)), [0, 1], classes=2), "one input for each of 2 labels"),
        (lambda: canaries.mislabeled(np.zeros((2, 2)), [0, 2], classes=2), "expected classes from 0 to 1"),
        (lambda: canaries.mislabeled(np.zeros((2, 2)), [0, 1], classes=1), "a whole number from 2 on"),
        (lambda: canaries.random_tokens(0, 5, vocabulary=9), "canaries: found 0"),
        (lambda: canaries.random_images(9, (2,), classes=2).inserted(new_plan(0, n=40), [], []), "of 40 canaries"),
        (lambda: canaries.random_images(40, (2,), classes=2).inserted(new_plan(0, n=40), np.zeros((3, 2))), "1 arrays"),
        (
            lambda: canaries.random_images(40, (2,), classes=2).inserted(
                new_plan(0, n=40), np.zeros((3, 5)), np.zeros(3)
            ),
            r"expected rows of shape \(2,\)",
        ),
        (lambda: gradients(new_plan(0, n=40), dimension=39), "found 39 parameters"),
        (lambda: gradients(new_plan(0, n=40), sample_rate=0), "sample_rate: found 0"),
        (lambda: gradients(new_plan(0, n=40), noise_multiplier=np.nan), "noise_multiplier: found nan"),
        (lambda: gradients(new_plan(0, n=40), kind="both"), "one of dirac, signs"),
        (lambda: gradients("plan.json"), "expected a plan of canaries.plan"),
        (lambda: gradients(new_plan(0, n=40)).observe(np.zeros(3)), "one for each of 40"),
        (lambda: gradients(new_plan(0, n=40)).observe(np.full(40, np.nan)), "found nan at step 0"),
        (lambda: gradients(new_plan(0, n=40)).scores, "found no step"),
        (lambda: canaries.ScoreMean().scores, "found no checkpoint"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def gradients(plan, dimension=6000, sample_rate=RATE, noise_multiplier=SIGMA, **more):
    return canaries.GradientCanaries(
        plan, dimension, sample_rate=sample_rate, noise_multiplier=noise_multiplier, **more
    )


@pytest.mark.parametrize("kind", ["dirac", "signs"])
def test_directions_are_orthogonal_units(kind):
    watched = gradients(new_plan(1, n=40), dimension=403, kind=kind)
    vectors = np.zeros((40, 403))
    for canary, vector in enumerate(vectors):
        places, weights = watched.gradient(canary)
        vector[places] = weights
    assert np.allclose(vectors @ vectors.T, np.eye(40))
    assert np.allclose([watched.along(vector) for vector in vectors], np.eye(40))


def trained(watched, sigma, random):
    """The noisy sums along canaries whose gradients have norm 1."""
    for _ in range(STEPS):
        sums = sigma * random.normal(size=len(watched))
        sums[watched.batch()] += 1
        watched.observe(sums)
    return watched.scores


def test_a_tight_training_shows_its_forecast_and_too_little_noise_is_refuted(claimed):
    """Twelve trainings with the noise that is claimed: the median of their bounds is within the forecast's limits of
    nine tenths of audits, and no claim is refuted; one with a quarter of it is refuted."""
    random, bounds = np.random.default_rng(3), []
    mechanism = f"subsampled-gaussian:sigma={SIGMA},rate={RATE}"
    for seed in range(12):
        plan = leakbound.canaries.plan(1000, mechanism=mechanism, times=STEPS, seed=seed, repetitions=20)
        audit = plan.audit(trained(gradients(plan, sampling_seed=seed), SIGMA, random), repetitions=20)
        assert not audit.refuted
        bounds.append(audit.epsilon_lower)
    forecast = claimed.forecast.epsilon
    print(sorted(bounds), forecast.low, forecast.median, forecast.high, claimed.claimed_epsilon)
    assert forecast.low < np.median(bounds) < forecast.high
    assert claimed.audit(trained(gradients(claimed, sampling_seed=9), SIGMA / 4, random)).refuted


def test_scores_are_likelihood_ratios(claimed):
    watched = gradients(claimed)
    sums = np.linspace(-30, 60, 1000)
    watched.observe(sums)
    ratio = np.log(1 - RATE + RATE * np.exp(np.minimum((sums - 0.5) / SIGMA**2, 700)))
    few = sums < 100
    assert np.allclose(watched.scores[few], ratio[few])


def test_means_over_checkpoints():
    mean = canaries.ScoreMean()
    mean.add([1, 3])
    with pytest.raises(leakbound.UsageError, match="as of the checkpoint before"):
        mean.add([1, 3, 4])
    mean.add([10, 2])
    assert mean.scores.tolist() == [1.5, -1.5] and mean.checkpoints == 2
