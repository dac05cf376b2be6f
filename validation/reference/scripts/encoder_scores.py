"""encoder_scores.json: Fisher's transform of the mean cosine similarity of the views of a sample.

    python validation/reference/scripts/encoder_scores.py

With unit vectors e_v = u_v/|u_v|, rho is the mean of e_v . e_w over all pairs of different views, or over the pairs
(0, 1), (2, 3), ... (disjoint), and the score ln((1 + rho)/(1 - rho)).  Inputs are doubles, read exactly.

Second method: 1 - rho and 1 + rho as means of |e_v - e_w|^2/2 and |e_v + e_w|^2/2, with more digits.
"""
import json
import random
from itertools import combinations
from pathlib import Path

from mpmath import fdot, log, mp, mpf, nstr, sqrt

DIGITS, MORE = 120, 200


def chosen(views, pairs):
    return list(combinations(range(views), 2)) if pairs == "all" else [(v, v + 1) for v in range(0, views, 2)]


def units(embeddings):
    rows = [[mpf(x) for x in row] for row in embeddings]
    return [[x / sqrt(fdot(row, row)) for x in row] for row in rows]


def by_cosines(embeddings, pairs):
    e = units(embeddings)
    cosines = [fdot(e[v], e[w]) for v, w in chosen(len(e), pairs)]
    rho = sum(cosines) / len(cosines)
    return log((1 + rho) / (1 - rho))


def by_distances(embeddings, pairs):
    e = units(embeddings)

    def half_square(sign):
        squares = [sum((a + sign * b) ** 2 for a, b in zip(e[v], e[w])) for v, w in chosen(len(e), pairs)]
        return sum(squares) / (2 * len(squares))

    return log(half_square(1)) - log(half_square(-1))


def cases():
    draw = random.Random(23)

    def normal(views, dimension):
        return [[draw.gauss(0, 1) for _ in range(dimension)] for _ in range(views)]

    def near(views, dimension, noise, scale=1.0):
        center = normal(1, dimension)[0]
        return [[scale * (x + noise * draw.gauss(0, 1)) for x in center] for _ in range(views)]

    for views in (2, 3, 6, 12):
        for dimension in (2, 5, 16):
            yield normal(views, dimension)
    for noise in (1.0, 0.1, 1e-3, 1e-6, 1e-9, 1e-11):
        yield near(4, 8, noise)
    for scale in (1e300, 1e150, 1e-150, 1e-300):
        yield near(4, 8, 0.3, scale)
    # Magnitudes that differ from view to view, and views that point in opposite directions.
    yield [[10.0 ** (40 * v - 60) * x for x in row] for v, row in enumerate(near(4, 6, 0.5))]
    for noise in (0.1, 1e-5, 1e-10):
        first, second = near(2, 5, noise)
        yield [first, [-x for x in second]]


entries = []
for embeddings in cases():
    for pairs in ["all"] + ["disjoint"] * (len(embeddings) % 2 == 0):
        mp.dps = DIGITS
        expected = by_cosines(embeddings, pairs)
        mp.dps = MORE
        other = by_distances(embeddings, pairs)
        difference = float(nstr(abs(expected - other) / abs(other), 3))
        assert difference < 1e-60, difference
        entries.append({"pairs": pairs, "embeddings": embeddings, "expected": nstr(other, 40), "verify": difference})
text = "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"
Path(__file__).parents[1].joinpath("encoder_scores.json").write_text(text)
print(len(entries), max(entry["verify"] for entry in entries), len(text))
