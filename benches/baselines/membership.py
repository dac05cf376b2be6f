"""Membership inference by NumPy: usage `membership.py lira|roc [SAMPLES = 50000]`.

`lira` is the leave-one-out likelihood-ratio attack on 64 recorded models in 18 views: each model in turn is the victim,
and normal distributions are fitted to the scores of the other 63, those that were trained on a sample and those that were not.
`roc` is the ROC of 3.2 million guesses, its area, and the true positive rate at a false positive rate of 0.1 %.
"""

import sys

from measure import THREADS, measure

import numpy as np
from concurrent.futures import ThreadPoolExecutor
from scipy.stats import norm

MODELS, VIEWS = 64, 18
FLOOR = np.float32(1e-12)


def recording(samples):
    """Scores [model, sample, view] with members half a unit higher, and who is a member of what [model, sample]."""
    generator = np.random.default_rng(1)
    members = generator.random((MODELS, samples)) < 0.5
    scores = generator.standard_normal((MODELS, samples, VIEWS), dtype=np.float32)
    scores += 0.5 * members[:, :, None].astype(np.float32)
    return scores, members


def moments(sums, squares, count):
    """Mean and variance from sums."""
    mean = sums / count
    return mean, np.maximum(squares / count - mean * mean, FLOOR)


def log_likelihoods(scores, members):
    """ln of in-distribution over out-distribution for each model and sample, summed over views, from sums over all models.

    The victim is taken out of the sums of its own side only, so no sum is formed twice.
    """
    # One pass for the variances is safe in single precision once scores are near 0.
    scores = scores - scores.mean(0)
    squares = scores * scores
    inside = members[:, :, None]
    weight = inside.astype(np.float32)
    n_in = members.sum(0, dtype=np.float32)[:, None]
    sum_in, square_in = (weight * scores).sum(0), (weight * squares).sum(0)
    sum_out, square_out = scores.sum(0) - sum_in, squares.sum(0) - square_in
    n_out = np.float32(MODELS) - n_in
    own_mean, own_variance = moments(
        np.where(inside, sum_in, sum_out) - scores,
        np.where(inside, square_in, square_out) - squares,
        np.where(inside, n_in, n_out) - np.float32(1),
    )
    mean_in, variance_in = moments(sum_in, square_in, n_in)
    mean_out, variance_out = moments(sum_out, square_out, n_out)
    other_mean, other_variance = np.where(inside, mean_out, mean_in), np.where(inside, variance_out, variance_in)
    own = (scores - own_mean) ** 2 / own_variance + np.log(own_variance)
    other = (scores - other_mean) ** 2 / other_variance + np.log(other_variance)
    # Members' own distribution is the in-distribution, others' the out-distribution.
    sign = np.where(members, np.float32(0.5), np.float32(-0.5))
    return sign * (other - own).sum(2)


def attack(scores, members, threads, batch=100):
    """All guesses, batches of samples at a time so that they stay in the cache."""
    guesses = np.empty(members.shape, np.float32)

    def part(start):
        place = slice(start, start + batch)
        guesses[:, place] = log_likelihoods(np.ascontiguousarray(scores[:, place]), members[:, place])

    starts = range(0, members.shape[1], batch)
    if threads == 1:
        list(map(part, starts))
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, starts))
    return guesses


def attack_by_definition(scores, members):
    """The same, model by model and sample by sample."""
    guesses = np.empty(members.shape)
    for victim in range(MODELS):
        others = np.arange(MODELS) != victim
        for sample in range(members.shape[1]):
            inside = members[:, sample]
            sides = [scores[others & side, sample] for side in (inside, ~inside)]
            ln_in, ln_out = (norm.logpdf(scores[victim, sample], side.mean(0), side.std(0)) for side in sides)
            guesses[victim, sample] = (ln_in - ln_out).sum()
    return guesses


def lira(samples):
    scores, members = recording(samples)
    few = scores[:, :10].astype(float), members[:, :10]
    error = np.max(np.abs(attack_by_definition(*few) - attack(scores[:, :10], members[:, :10], 1)))
    if not error < 1e-3:
        raise SystemExit(f"membership.py: guesses are off by {error}")
    for threads in (1, THREADS):
        measure(
            f"numpy leave-one-out sums, {threads} threads",
            f"{MODELS}x{samples}x{VIEWS}",
            members.size,
            lambda: attack(scores, members, threads),  # noqa: B023
        )


def roc_by_sorting(guesses, members, at=1e-3):
    """Area under the ROC and the largest true positive rate with a false positive rate of at most `at`."""
    order = np.argsort(-guesses, kind="stable")
    sorted_guesses = guesses[order]
    # Equal guesses are one point.
    ends = np.append(np.flatnonzero(np.diff(sorted_guesses)), guesses.size - 1)
    hits = np.cumsum(members[order])[ends]
    tpr, fpr = hits / hits[-1], (ends + 1 - hits) / (guesses.size - hits[-1])
    area = np.trapezoid(np.r_[0.0, tpr], np.r_[0.0, fpr])
    below = np.searchsorted(fpr, at, "right")
    return area, tpr[below - 1] if below else 0.0


def roc_by_library(guesses, members, at=1e-3):
    """The same by scikit-learn."""
    from sklearn.metrics import auc, roc_curve

    fpr, tpr, _ = roc_curve(members, guesses)
    return auc(fpr, tpr), tpr[np.searchsorted(fpr, at, "right") - 1]


def roc(samples):
    generator = np.random.default_rng(1)
    members = generator.random(MODELS * samples) < 0.5
    guesses = generator.standard_normal(members.size) + 0.5 * members
    params = f"{members.size} guesses"
    ours = measure("numpy argsort, 1 thread", params, members.size, lambda: roc_by_sorting(guesses, members), repeat=3)
    other = measure(
        "sklearn roc_curve, 1 thread", params, members.size, lambda: roc_by_library(guesses, members), repeat=3
    )
    if not np.allclose(ours, other, rtol=1e-9):
        raise SystemExit(f"membership.py: {ours} by NumPy, {other} by scikit-learn")


if __name__ == "__main__":
    programs = {"lira": lira, "roc": roc}
    if len(sys.argv) < 2 or sys.argv[1] not in programs:
        raise SystemExit("usage: membership.py lira|roc [SAMPLES]")
    programs[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 50_000)
