"""Outputs of a noisy argmax by NumPy and by numba: usage `noisy_argmax.py fixed|fixed-100|pate|private-knn|capc [N = 1000000]`.

Each output is argmax(H + Normal(0, sigma^2)) over the classes, and only the counts of the classes are kept. H is fixed
votes (`fixed`), Multinomial(k, P) (`pate`, `private-knn`), or a sum of votes with a distribution of each party (`capc`).
Before its rate is believed, the counts of a program are held against the exact distribution.

`noisy_argmax.py inputs` reads works from standard input, one JSON object per line: `votes`, or `k` and `p`, or `parties`; and
`sigma`, and the numbers of outputs `numpy` and `numba`. It answers each with the two rates on two threads, in one line.
"""

import json
import sys
import time

from measure import P, THREADS, VOTES, VOTES_100, check, in_threads, measure, parties

import numpy as np

import exact_distribution


def count_winners(noisy):
    """Classes with the largest value, from an array [class, output]: faster than argmax along the short axis."""
    largest = noisy.max(0)
    return np.array([np.count_nonzero(row == largest) for row in noisy])


def add_noise(generator, votes, sigma, outputs):
    """Normal noise in single precision on votes [class, output] or [class, 1]."""
    noisy = generator.standard_normal((len(votes), outputs), dtype=np.float32)
    noisy *= np.float32(sigma)
    noisy += votes
    return noisy


def numpy_counts(work, total, threads, values=10 << 14):
    """Counts of `total` outputs, some `values` noisy votes at a time so that the arrays stay in the cache."""
    votes_of, batch = work.numpy_votes(), values // work.classes

    def part(seed, share):
        generator = np.random.Generator(np.random.SFC64(seed))
        counts = np.zeros(work.classes, np.int64)
        while share > 0:
            outputs = min(batch, share)
            counts += count_winners(add_noise(generator, votes_of(generator, outputs), work.sigma, outputs))
            share -= outputs
        return counts

    return in_threads(part, total, threads)


def fixed_votes(votes):
    column = votes.astype(np.float32)[:, None]
    return lambda generator, outputs: column


def multinomial_votes(k, p):
    return lambda generator, outputs: generator.multinomial(k, p, size=outputs).T


def party_votes(distributions):
    """Votes of parties by comparing one uniform variable with the distribution function of each party."""
    limits = np.cumsum(distributions, 1)[:, :-1].astype(np.float32)

    def votes(generator, outputs):
        # below[c]: parties whose vote is at most c; 250 fit into eight bits.
        below = np.zeros((distributions.shape[1], outputs), np.uint8)
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
    classes = distributions.shape[1]
    votes = np.zeros((outputs, classes))
    for distribution in distributions:
        votes += generator.multinomial(1, distribution, size=outputs)
    winners = (votes + sigma * generator.standard_normal(votes.shape)).argmax(1)
    plain = np.bincount(winners, minlength=classes)

    def checked(counts):
        total = counts.sum()
        pooled = (counts + plain) / (total + outputs)
        # As in `check`: no variance of the smaller count below 4.
        variance = np.maximum(pooled * (1 - pooled), 4 / min(total, outputs))
        z = (counts / total - plain / outputs) / np.sqrt(variance * (1 / total + 1 / outputs))
        if not np.max(np.abs(z)) < 7:
            raise SystemExit(f"capc: two programs differ by {np.max(np.abs(z)):.1f} standard deviations")

    return checked


class Work:
    """One work: `votes` are fixed votes, or k and P, or the distributions of parties, as `kind` says."""

    def __init__(self, kind, votes, sigma, params):
        self.kind, self.votes, self.sigma, self.params = kind, votes, sigma, params
        self.classes = {"fixed": np.size, "multinomial": lambda v: len(v[1]), "parties": lambda v: v.shape[1]}[kind](votes)

    def numpy_votes(self):
        if self.kind == "multinomial":
            return multinomial_votes(*self.votes)
        return (fixed_votes if self.kind == "fixed" else party_votes)(self.votes)

    def checker(self, plain_outputs=200_000):
        if self.kind == "parties":
            return near_plain_program(self.votes, self.sigma, plain_outputs)
        if self.kind == "fixed":
            return near_distribution(exact_distribution.fixed(self.votes, self.sigma), "fixed votes")
        return near_distribution(exact_distribution.distribution(self.votes[0], self.sigma, self.votes[1]), "random votes")


WORKS = {
    "fixed": lambda: Work("fixed", VOTES, 40.0, "C=10"),
    "fixed-100": lambda: Work("fixed", VOTES_100, 40.0, "C=100"),
    "pate": lambda: Work("multinomial", (250, P), 40.0, "k=250"),
    "private-knn": lambda: Work("multinomial", (200, P), 30.0, "k=200"),
    "capc": lambda: Work("parties", parties(), 40.0, "250 distributions"),
}


def given(line):
    """The work that a line of input says."""
    if "votes" in line:
        return Work("fixed", np.array(line["votes"], float), line["sigma"], "")
    if "parties" in line:
        return Work("parties", np.array(line["parties"]), line["sigma"], "")
    return Work("multinomial", (line["k"], np.array(line["p"])), line["sigma"], "")


def answer(lines):
    """Both rates of each line of input; a line that is given again in turn is measured again from the same tables."""
    import compiled

    def rate(run, total):
        start = time.perf_counter()
        checked(run())
        return total / (time.perf_counter() - start)

    last = None
    for line in lines:
        if line != last:
            last, values = line, json.loads(line)
            work = given(values)
            checked = work.checker(20_000)
            run = compiled.counts(work.kind, work.votes, work.sigma)
            total = compiled.whole_blocks(values["numba"])
            # Compiles, the first time.
            run(compiled.whole_blocks(0))
        rates = {
            "numba": rate(lambda: run(total), total),  # noqa: B023
            "numpy": rate(lambda: numpy_counts(work, values["numpy"], THREADS), values["numpy"]),  # noqa: B023
        }
        print(json.dumps(rates), flush=True)


def main():
    if len(sys.argv) == 2 and sys.argv[1] == "inputs":
        return answer(sys.stdin)
    if len(sys.argv) < 2 or sys.argv[1] not in WORKS:
        raise SystemExit(f"usage: noisy_argmax.py {'|'.join(WORKS)} [N], or noisy_argmax.py inputs")
    work, total = WORKS[sys.argv[1]](), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    checked = work.checker()
    for threads in (1, THREADS):
        run = lambda: numpy_counts(work, total, threads)  # noqa: B023, E731
        checked(measure(f"numpy SFC64 f32, {threads} threads", work.params, total, run))
    import compiled

    # Compiled code is faster: more outputs, for a time that can be measured, in whole blocks.
    total = compiled.whole_blocks(4 * total)
    run = compiled.counts(work.kind, work.votes, work.sigma)
    checked(measure(f"numba vector loops, {THREADS} threads", work.params, total, lambda: run(total), warm=True))


if __name__ == "__main__":
    main()
