"""The sparse vector technique: Algorithms 1 to 6 of Lyu, Su and Li 2017, and relatives.

The dataset is the vector of answers (each moves by at most 1), the threshold is 0 and epsilon is 1 but
for Algorithm 3. An output lists true (above) and false (below) and ends after
`cutoff` answers above.
"""

import numpy as np

from protocol import grid, main, numbers


def technique(threshold_scale, query_scale, cutoff=None, again=None, values=False):
    """`again` is the scale with which the threshold is drawn anew after each answer above."""

    def mechanism(dataset, runs, rng):
        answers = numbers(dataset, -100, 100)
        shape = (runs, len(answers))
        rho = rng.laplace(0, threshold_scale, runs)
        noisy = answers + (rng.laplace(0, query_scale, shape) if query_scale else np.zeros(shape))
        above = np.zeros(shape, dtype=bool)
        length = np.full(runs, len(answers))
        found = np.zeros(runs, dtype=int)
        for i in range(len(answers)):
            hit = noisy[:, i] >= rho
            above[:, i] = hit
            if cutoff is not None:
                hit &= length > i
                found += hit
                length[hit & (found == cutoff)] = i + 1
            if again is not None:
                rho = np.where(hit, rng.laplace(0, again, runs), rho)
        if values:
            shown = np.where(above, grid(noisy).astype(object), False).tolist()
        else:
            shown = above.tolist()
        return [row[:n] for row, n in zip(shown, length.tolist())]

    return mechanism


def first_with(threshold_scale, query_scale, with_gap=False):
    """The index of the first answer above a noisy threshold, or null if there is none."""

    def mechanism(dataset, runs, rng):
        answers = numbers(dataset, -100, 100)
        if not len(answers):
            return [None] * runs
        rho = rng.laplace(0, threshold_scale, runs) if threshold_scale else np.zeros(runs)
        over = answers + rng.laplace(0, query_scale, (runs, len(answers))) - rho[:, None]
        first = (over >= 0).argmax(axis=1)
        lead = over[np.arange(runs), first]
        if with_gap:
            rows = zip(first.tolist(), grid(lead).tolist(), (lead >= 0).tolist())
            return [[i, g] if found else None for i, g, found in rows]
        return [i if found else None for i, found in zip(first.tolist(), (lead >= 0).tolist())]

    return mechanism


VARIANTS = {
    # Algorithm 1: epsilon / 2 for the threshold, which is drawn once, and the rest for 3 answers.
    "algorithm-1": technique(2, 12, cutoff=3),
    # Algorithm 2 (Dwork and Roth 2014): the threshold is drawn anew, with a third of its half each time.
    "algorithm-2": technique(6, 12, cutoff=3, again=6),
    # Algorithm 3 (Roth 2011): the noisy answer that was compared is shown, which bounds the threshold.
    # Its leak comes out slowly: here epsilon is 2, since at 1 it takes more than 10^4 runs.
    "algorithm-3": technique(1, 1, cutoff=1, values=True),
    # Algorithm 4 (Lee and Clifton 2014): the noise of the answers does not grow with the cutoff.
    "algorithm-4": technique(4, 4 / 3, cutoff=3),
    # Algorithm 5 (Stoddard et al. 2014): no noise on the answers.
    "algorithm-5": technique(2, 0),
    # Algorithm 6 (Chen et al. 2015): any number of answers above at one price.
    "algorithm-6": technique(2, 2),
    "above-threshold": first_with(2, 4),
    "above-threshold-gap": first_with(2, 4, with_gap=True),
    # Without noise on the threshold every answer below costs budget, up to 1/2.
    "no-threshold-noise": first_with(0, 2),
}

if __name__ == "__main__":
    main(VARIANTS)
