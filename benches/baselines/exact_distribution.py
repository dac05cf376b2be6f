"""The exact distribution of PATE's noisy argmax by NumPy, in both worlds.

Usage: `exact_distribution.py [REPEATS = 3] [CLASSES = 10|100]`.

H ~ Multinomial(k, P) is independent Poisson variables H_j with means k P_j, given that they add up to k. So with
independent noise
    P(argmax = c) = integral over x of  [t^k] D_c(t) prod_{j != c} F_j(t) / Poisson(k; k),
    F_j(t) = sum_h Poisson(h; k P_j) Phi((x - h) / sigma) t^h,   D_c the same with the density of the noise.
The coefficient of t^k is the mean over roots of unity of the product times t^-k. In the other world one teacher votes
with P' instead: the product is linear in its vote, which is carried along as a derivative.
"""

import sys

from concurrent.futures import ThreadPoolExecutor

from measure import P, P_100, P_MARKED, P_MARKED_100, THREADS, measure
import measure as shared

import numpy as np
from scipy.special import ndtr


def distribution(k, sigma, p, p_marked=None, nodes=257):
    """Class probabilities; with `p_marked` those of k - 1 teachers who vote with `p` and one who votes with it."""
    free = k if p_marked is None else k - 1
    # The largest noisy count is in here but for 1e-15.
    x, step = np.linspace(-8.5 * sigma, k + 8.5 * sigma, nodes, retstep=True)
    size = 1 << (2 * k).bit_length()

    # The noise at every node and number of votes, the same for all classes.
    z = (x[:, None] - np.arange(free + 2.0)) / sigma
    all_below, all_density = ndtr(z), np.exp(-0.5 * z * z) / (sigma * np.sqrt(2 * np.pi))

    def at_roots(weights, more):
        votes = slice(more, free + 1 + more)
        return np.fft.rfft(weights * all_below[:, votes], size), np.fft.rfft(weights * all_density[:, votes], size)

    plain, one_more = [], []
    for j, probability in enumerate(p):
        weights = np.exp(shared.poisson_log_weights(free * probability, free))
        plain.append(at_roots(weights, 0))
        if p_marked is not None:
            below, density = at_roots(weights, 1)
            one_more.append((p_marked[j] * below, p_marked[j] * density))

    # Products over the classes before and after each, as value and derivative in the direction of the marked vote.
    def product(left, right):
        value = left[0] * right[0]
        return value, (left[0] * right[1] + left[1] * right[0] if p_marked is not None else None)

    def factor(j):
        return plain[j][0], one_more[j][0] if p_marked is not None else None

    shape = plain[0][0].shape
    empty = np.ones(shape, complex), np.zeros(shape, complex)
    before = [empty]
    for j in range(len(p) - 1):
        before.append(product(before[-1], factor(j)))
    after, result = empty, np.empty(len(p))
    # rfft keeps half of the roots: the others are conjugates.
    weight = np.full(shape[1], 2.0)
    weight[[0, -1]] = 1.0
    turn = weight * np.exp(2j * np.pi * np.arange(shape[1]) * free / size) / size
    scale = step / np.exp(shared.poisson_log_weights(float(free), free)[-1])
    for c in reversed(range(len(p))):
        rest = product(before[c], after)
        if p_marked is None:
            winner = plain[c][1] * rest[0]
        else:
            winner = plain[c][1] * rest[1] + one_more[c][1] * rest[0]
        result[c] = np.real(winner @ turn).sum() * scale
        after = product(factor(c), after)
    return result


def fixed(votes, sigma, nodes=4001):
    """Class probabilities of fixed votes: one integral over the winner's noisy count."""
    x, step = np.linspace(votes.max() - 12 * sigma, votes.max() + 12 * sigma, nodes, retstep=True)
    z = (x - votes[:, None]) / sigma
    below, density = ndtr(z), np.exp(-0.5 * z * z) / (sigma * np.sqrt(2 * np.pi))
    others = [np.prod(np.delete(below, c, 0), 0) for c in range(len(votes))]
    return (density * np.array(others)).sum(1) * step


def both_worlds(p, p_marked, threads):
    """The distributions of both worlds, each on a thread of its own where there are two."""
    worlds = [lambda: distribution(250, 40.0, p), lambda: distribution(250, 40.0, p, p_marked)]
    if threads == 1:
        return [world() for world in worlds]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda world: world(), worlds))


def main(repeats, p, p_marked):
    for threads in (1, THREADS):
        pair = measure(
            f"numpy, generating function, both worlds, {threads} threads",
            f"k=250, C={len(p)}",
            1,
            lambda: both_worlds(p, p_marked, threads),  # noqa: B023
            repeat=repeats,
        )
        for world in pair:
            if abs(world.sum() - 1) > 1e-9:
                raise SystemExit(f"exact_distribution.py: probabilities add up to {world.sum()}")


if __name__ == "__main__":
    hundred = len(sys.argv) > 2 and sys.argv[2] == "100"
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, *((P_100, P_MARKED_100) if hundred else (P, P_MARKED)))
