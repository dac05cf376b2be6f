"""Equal to scikit-learn (ROC, AUC) and SciPy (Clopper-Pearson) on random inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm
from sklearn.metrics import roc_auc_score, roc_curve

import leakbound


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("flip", [False, True])
def test_roc_and_auc_of_scikit_learn(seed, flip):
    random = np.random.default_rng(seed)
    inside, outside = random.normal(1, 1, random.integers(1, 200)), random.normal(0, 1, random.integers(1, 200))
    if seed % 2:
        # Ties within and between both sides.
        inside, outside = inside.round(1), outside.round(1)
    scores = leakbound.canaries.CanaryScores(inside, outside, flip=flip)
    labels = np.r_[np.ones(len(inside)), np.zeros(len(outside))]
    values = np.r_[inside, outside] * (-1 if flip else 1)
    fpr, tpr, thresholds = roc_curve(labels, values, drop_intermediate=False)
    found = scores.roc()
    np.testing.assert_array_equal(found.fpr, fpr)
    np.testing.assert_array_equal(found.tpr, tpr)
    np.testing.assert_array_equal(found.thresholds, thresholds)
    assert scores.auc == pytest.approx(roc_auc_score(labels, values), abs=1e-14)


def test_auc_of_an_attack_is_that_of_its_points():
    random = np.random.default_rng(1)
    keep = random.permuted(np.tile(np.arange(16) % 2 == 0, (20, 1)), axis=1).T
    scores = random.normal(size=(16, 20)) + keep
    attack = leakbound.membership.threshold(scores=scores, keep=keep, resamples=0)
    assert attack.auc == pytest.approx(roc_auc_score(keep.ravel(), scores.ravel()), abs=1e-14)


@pytest.mark.parametrize("failure_probability", [0.5, 0.05, 1e-3])
def test_clopper_pearson_of_scipy(failure_probability):
    random = np.random.default_rng(2)
    for trials in [1, 2, *random.integers(3, 5000, 20).tolist()]:
        for successes in {0, trials, int(random.integers(0, trials + 1))}:
            expected = binomtest(successes, trials).proportion_ci(1 - failure_probability, method="exact")
            found = leakbound.audit.clopper_pearson(successes, trials, failure_probability)
            assert found == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


def test_tpr_at_fpr_is_the_largest_of_the_curve():
    random = np.random.default_rng(5)
    inside, outside = random.normal(1.5, 1, 400), random.normal(0, 1, 300)
    scores = leakbound.canaries.CanaryScores(inside, outside)
    for target in (0.0, 0.01, 0.1, 1.0):
        found = scores.tpr_at_fpr(target)
        allowed = [t for t in np.r_[np.inf, inside, outside] if np.mean(outside >= t) <= target]
        assert float(found) == max(np.mean(inside >= t) for t in allowed)
        assert found.fpr <= target and found.fpr == np.mean(outside >= found.threshold)
        assert found.tpr_lower <= found.tpr and found.fpr_upper >= found.fpr
        # The distribution that the scores were drawn from, within the limits: they are wrong with probability 0.05.
        if np.isfinite(found.threshold):
            assert found.tpr_lower <= norm.sf(found.threshold, 1.5) and norm.sf(found.threshold) <= found.fpr_upper
