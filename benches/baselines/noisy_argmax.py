"""Outputs of a noisy argmax by NumPy and by numba: usage `noisy_argmax.py fixed|pate|private-knn|capc [N = 1000000]`.

Each output is argmax(H + Normal(0, sigma^2)) over ten classes, and only the counts of the classes are kept. H is fixed
votes (`fixed`), Multinomial(k, P) (`pate`, `private-knn`), or a sum of votes with a distribution of each party (`capc`).
Before its rate is believed, the counts of a program are held against the exact distribution.
"""

import sys

from measure import CLASSES, P, THREADS, VOTES, check, in_threads, measure, parties

import numpy as np

import exact_distribution


def count_winners(noisy):
    """Classes with the largest value, from an array [class, output]: faster than argmax along the short axis."""
    largest = noisy.max(0)
    return np.array([np.count_nonzero(row == largest) for row in noisy])


def add_noise(generator, votes, sigma, outputs):
    """Normal noise in single precision on votes [class, output] or [class, 1]."""
    noisy = generator.standard_normal((CLASSES, outputs), dtype=np.float32)
    noisy *= np.float32(sigma)
    noisy += votes
    return noisy


def numpy_counts(votes_of, sigma, total, threads, batch=1 << 14):
    """Counts of `total` outputs, `batch` at a time so that the arrays stay in the cache."""

    def part(seed, share):
        generator = np.random.Generator(np.random.SFC64(seed))
        counts = np.zeros(CLASSES, np.int64)
        while share > 0:
            outputs = min(batch, share)
            counts += count_winners(add_noise(generator, votes_of(generator, outputs), sigma, outputs))
            share -= outputs
        return counts

    return in_threads(part, total, threads)


def fixed_votes(generator, outputs):
    return VOTES.astype(np.float32)[:, None]


def multinomial_votes(k):
    return lambda generator, outputs: generator.multinomial(k, P, size=outputs).T


def party_votes(distributions):
    """Votes of parties by comparing one uniform variable with the distribution function of each party."""
    limits = np.cumsum(distributions, 1)[:, :-1].astype(np.float32)

    def votes(generator, outputs):
        # below[c]: parties whose vote is at most c; 250 fit into eight bits.
        below = np.zeros((CLASSES, outputs), np.uint8)
        below[-1] = len(distributions)
        uniform, hit = np.empty(outputs, np.float32), np.empty(outputs, bool)
        for party in limits:
            generator.random(out=uniform, dtype=np.float32)
            for c, limit in enumerate(party):
                np.less(uniform, limit, out=hit)
                below[c] += hit.view(np.uint8)
        return np.diff(below.astype(np.float32), axis=0, prepend=np.float32(0))

    return votes


def near_distribution(distribution, name):
    """A check of counts against an exact distribution."""
    return lambda counts: check(counts, distribution, name)


def near_plain_program(distributions, sigma, outputs=200_000):
    """A check of counts against the shortest program, which draws every vote; the exact distribution has no short formula."""
    generator = np.random.default_rng(3)
    votes = np.zeros((outputs, CLASSES))
    for distribution in distributions:
        votes += generator.multinomial(1, distribution, size=outputs)
    winners = (votes + sigma * generator.standard_normal(votes.shape)).argmax(1)
    plain = np.bincount(winners, minlength=CLASSES)

    def checked(counts):
        total = counts.sum()
        pooled = (counts + plain) / (total + outputs)
        z = (counts / total - plain / outputs) / np.sqrt(pooled * (1 - pooled) * (1 / total + 1 / outputs))
        if not np.max(np.abs(z)) < 7:
            raise SystemExit(f"capc: two programs differ by {np.max(np.abs(z)):.1f} standard deviations")

    return checked


class Work:
    """One work: votes by NumPy, votes for numba, sigma, parameters, and a function that makes the check of counts."""

    def __init__(self, votes, compiled, sigma, params, checker):
        self.votes, self.compiled, self.sigma, self.params, self.checker = votes, compiled, sigma, params, checker


def works():
    """All works by name."""
    distributions = parties()

    def pate(k, sigma):
        checker = lambda: near_distribution(exact_distribution.distribution(k, sigma, P), "pate")  # noqa: E731
        return Work(multinomial_votes(k), ("multinomial", k), sigma, f"k={k}", checker)

    return {
        "fixed": Work(
            fixed_votes, ("fixed", VOTES), 40.0, "C=10", lambda: near_distribution(exact_distribution.fixed(VOTES, 40.0), "fixed")
        ),
        "pate": pate(250, 40.0),
        "private-knn": pate(200, 30.0),
        "capc": Work(party_votes(distributions), ("parties", distributions), 40.0, "250 distributions", lambda: near_plain_program(distributions, 40.0)),
    }


def main():
    known = works()
    if len(sys.argv) < 2 or sys.argv[1] not in known:
        raise SystemExit(f"usage: noisy_argmax.py {'|'.join(known)} [N]")
    work, total = known[sys.argv[1]], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    checked = work.checker()
    for threads in (1, THREADS):
        run = lambda: numpy_counts(work.votes, work.sigma, total, threads)  # noqa: B023, E731
        checked(measure(f"numpy SFC64 f32, {threads} threads", work.params, total, run))
    import compiled

    # Compiled code is faster: more outputs, for a time that can be measured, in whole blocks.
    total = compiled.whole_blocks(4 * total)
    run = compiled.counts(*work.compiled, work.sigma)
    checked(measure(f"numba vector loops, {THREADS} threads", work.params, total, lambda: run(total), warm=True))


if __name__ == "__main__":
    main()
