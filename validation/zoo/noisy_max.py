"""Selection: report noisy max, the exponential mechanism, permute-and-flip, top k. Epsilon is 1.

Answers that may all move by 1, each in its own direction (relation linf:1), need noise for epsilon / 2:
the winner can lose 1 while another one gains 1.
"""

import numpy as np

from protocol import counts, draw, grid, main, numbers

DISHES = ["curry", "pasta", "salad", "soup"]


def scores(dataset):
    values = numbers(dataset, -100, 100)
    if not len(values):
        raise ValueError("no candidates")
    return values


def laplace(scale):
    return lambda rng, shape: rng.laplace(0, scale, shape)


def exponential(scale):
    return lambda rng, shape: rng.exponential(scale, shape)


def gumbel(scale):
    return lambda rng, shape: rng.gumbel(0, scale, shape)


def index_with(noise):
    def mechanism(dataset, runs, rng):
        values = scores(dataset)
        return (values + noise(rng, (runs, len(values)))).argmax(axis=1)

    return mechanism


def value_with(noise):
    # The largest noisy value depends on the noise of every candidate, not of the winner alone.
    def mechanism(dataset, runs, rng):
        values = scores(dataset)
        return grid((values + noise(rng, (runs, len(values)))).max(axis=1))

    return mechanism


def gap(dataset, runs, rng):
    # The winner and its lead over the runner-up: only the winner's noise must make up for a change.
    values = scores(dataset)
    noisy = values + rng.laplace(0, 2, (runs, len(values)))
    order = np.sort(noisy, axis=1)
    lead = order[:, -1] - order[:, -2] if len(values) > 1 else np.zeros(runs)
    return [{"winner": w, "lead": g} for w, g in zip(noisy.argmax(axis=1).tolist(), grid(lead).tolist())]


def top_three_with(scale):
    def mechanism(dataset, runs, rng):
        values = scores(dataset)
        return (-(values + rng.gumbel(0, scale, (runs, len(values))))).argsort(axis=1)[:, :3]

    return mechanism


def permute_and_flip_with(rate):
    def mechanism(dataset, runs, rng):
        # All coins are flipped at once; the first accepted candidate of a random order wins. The best
        # candidate always accepts.
        values = scores(dataset)
        accepted = rng.random((runs, len(values))) < np.exp(rate * (values - values.max()))
        return np.where(accepted, rng.random(accepted.shape), 2.0).argmin(axis=1)

    return mechanism


def vote(dataset, runs, rng):
    # A new vote raises one score by 1 and lowers none, so exp(u) and not exp(u / 2) is enough.
    votes = counts([v for v in dataset if v in DISHES], DISHES)
    chosen = draw(np.exp(votes - votes.max()), runs, rng)
    return np.array(DISHES, dtype=object)[chosen]


def ballots_with(sensitivity):
    """Records {"best": dish, "worst": dish}; replacing one moves a score by up to 2."""

    def mechanism(dataset, runs, rng):
        score = np.zeros(len(DISHES))
        for record in dataset:
            for part, sign in (("best", 1), ("worst", -1)):
                name = record.get(part) if isinstance(record, dict) else None
                if isinstance(name, str) and name in DISHES:
                    score[DISHES.index(name)] += sign
        chosen = draw(np.exp((score - score.max()) / (2 * sensitivity)), runs, rng)
        return np.array(DISHES, dtype=object)[chosen]

    return mechanism


VARIANTS = {
    "laplace": index_with(laplace(2)),
    "exponential": index_with(exponential(2)),
    "gumbel": index_with(gumbel(2)),
    # Noise for epsilon where noise for epsilon / 2 is due.
    "laplace-half": index_with(laplace(1)),
    "exponential-half": index_with(exponential(1)),
    "gumbel-half": index_with(gumbel(1)),
    "laplace-value": value_with(laplace(2)),
    # One-sided noise: no value below the largest answer can ever appear.
    "exponential-value": value_with(exponential(2)),
    "gap": gap,
    "top-three": top_three_with(6),
    # Three choices, each of which spends the whole budget.
    "top-three-wrong": top_three_with(2),
    "permute-and-flip": permute_and_flip_with(0.5),
    "permute-and-flip-wrong": permute_and_flip_with(1.0),
    "vote": vote,
    "ballots": ballots_with(2),
    # The sensitivity of the score is 2 and not 1.
    "ballots-wrong": ballots_with(1),
}

if __name__ == "__main__":
    main(VARIANTS)
