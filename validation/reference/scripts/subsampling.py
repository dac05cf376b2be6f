"""subsampling.json: mechanisms that see a record only sometimes, and shuffled answers.

    python validation/reference/scripts/subsampling.py

`forward` and `reverse` are divergences of the two distributions written out for `data` and `neighbor`, `theorem` what
the theorem of the mechanism promises in both directions.  First method: integrals by quadrature, sums over outcomes,
and for hockey-stick divergences the outcomes whose ratio is above e^eps, found in closed form.  Second method: for
densities the trapezoid rule, and quadrature of the positive part; for outcomes the dual form of the divergence.
"""
from mpmath import binomial, exp, log, log1p, mp, mpf, ncdf, npdf, quad, sqrt

import table

DIGITS = 50
ORDERS = [1.0625, 1.5, 2, 2.75, 8, 40]
EPSILONS = [0, 0.1, 0.5, 1]


class Compared:
    """The largest relative difference of two methods."""

    def __init__(self, limit):
        self.worst, self.limit = mpf(0), mpf(limit)

    def value(self, first, second):
        difference = abs(first - second) / max(abs(first), mpf("1e-14"))
        self.worst = max(self.worst, difference)
        assert difference < self.limit, (first, second)
        return table.decimal(first)


def entry(text, worlds, compared, divergences, hockey):
    return {"mechanism": text, "data": worlds[0], "neighbor": worlds[1],
            "expected": {"divergences": divergences, "hockey_stick": hockey},
            "verify": {"rel_diff_second_method": float("%.3g" % compared.worst)}}


# Sums of Gaussian mixtures.

def mixture(z, q, v):
    """The ratio of (1-q) N(0,1) + q N(v,1) to N(0,1)."""
    return 1 - q + q * exp(v * z - v * v / 2)


def replaced_renyi(a, q, v, compared):
    def term(z):
        p, r = mixture(z, q, v), mixture(z, q, -v)
        # E r ((p/r)^a - 1 - a (p/r - 1)), in which nothing cancels.
        return npdf(z) * r * ((p / r) ** a - 1 - a * (p - r) / r)

    top = max(2 * a - 1, 3) * v + 24
    low = -3 * v - 24
    pieces = [low + (top - low) * k / 40 for k in range(41)] + [mpf(0)]
    first = quad(term, sorted(pieces))
    # The rule converges like e^(-2 pi d/h): such steps leave 40 digits and more.
    step = min(mpf(1) / 16, 1 / (8 * v)) / sqrt(1 + (a - 1) * v * v / 4)
    second = step * sum(term(low + step * k) for k in range(int((top - low) / step) + 1))
    return compared.value(log1p(first) / (a - 1), log1p(second) / (a - 1))


def replaced_delta(epsilon, q, v, compared):
    x = exp(mpf(epsilon))
    # (1-q)(1-x) + q e^(-v^2/2) (t - x/t) = 0, t = e^(v z).
    b, c = (1 - q) * (1 - x), q * exp(-v * v / 2)
    t = (-b + sqrt(b * b + 4 * c * c * x)) / (2 * c)
    z = log(t) / v
    above = lambda v: (1 - q) * ncdf(-z) + q * ncdf(v - z)
    first = above(v) - x * above(-v)
    excess = lambda y: npdf(y) * (mixture(y, q, v) - x * mixture(y, q, -v))
    second = quad(excess, [z + (v + 24) * k / 20 for k in range(21)])
    return compared.value(first, second)


def replaced(sigma, rate):
    compared, v, q = Compared("1e-25"), 1 / mpf(sigma), mpf(rate)
    divergences, hockey = [], []
    for order in ORDERS:
        value = replaced_renyi(mpf(order), q, v, compared)
        divergences.append({"order": order, "forward": value, "reverse": value, "theorem": value})
    for epsilon in EPSILONS:
        value = replaced_delta(epsilon, q, v, compared)
        hockey.append({"epsilon": epsilon, "forward": value, "reverse": value})
    text = "subsampled-gaussian-replace:sigma=%r,rate=%r" % (sigma, rate)
    return entry(text, [[1, 0], [0, 1]], compared, divergences, hockey)


# Laplace noise on a Poisson subsample: x below 0, between 0 and 1, above 1.

def laplace(sigma, rate):
    compared, s, q = Compared("1e-25"), mpf(sigma), mpf(rate)
    density = lambda x: exp(-abs(x) / s) / (2 * s)
    without, with_it = density, lambda x: (1 - q) * density(x) + q * density(x - 1)

    def renyi(p, r, a):
        # Outside both are multiples of each other; inside a quadrature in x, and one in e^(x/s).
        low, high = p(mpf(0)) ** a * r(mpf(0)) ** (1 - a) * s, p(mpf(1)) ** a * r(mpf(1)) ** (1 - a) * s
        pieces = [mpf(k) / 8 for k in range(9)]
        first = low + high + quad(lambda x: p(x) ** a * r(x) ** (1 - a), pieces)
        places = [exp(k / s) for k in pieces]
        inside = quad(lambda y: p(s * log(y)) ** a * r(s * log(y)) ** (1 - a) * s / y, places)
        return compared.value(log(first) / (a - 1), log(low + high + inside) / (a - 1)), log(first) / (a - 1)

    def delta(p, r, x):
        pieces = sorted(set([mpf(0), mpf(1)] + [mpf(k) / 8 for k in range(9)] + crossing(p, r, x)))
        parts = quad(lambda y: max(mpf(0), p(y) - x * r(y)), pieces)
        outside = sum(max(mpf(0), p(mpf(k)) - x * r(mpf(k))) * s for k in (0, 1))
        least = quad(lambda y: min(p(y), x * r(y)), pieces)
        rest = sum(min(p(mpf(k)), x * r(mpf(k))) * s for k in (0, 1))
        return compared.value(parts + outside, 1 - least - rest)

    def crossing(p, r, x):
        """Where p = x r, by what the ratio of the noise alone is there."""
        # (1-q) + q l = x or 1/x with l = e^((2y-1)/s).
        ratio = ((x if p is with_it else 1 / x) - 1 + q) / q
        if ratio <= 0:
            return []
        y = (1 + s * log(ratio)) / 2
        return [y] if 0 < y < 1 else []

    divergences = []
    for order in ORDERS:
        a = mpf(order)
        (forward, removed), (reverse, added) = renyi(without, with_it, a), renyi(with_it, without, a)
        theorem = table.decimal(max(removed, added))
        divergences.append({"order": order, "forward": forward, "reverse": reverse, "theorem": theorem})
    hockey = [{"epsilon": eps, "forward": delta(without, with_it, exp(mpf(eps))),
               "reverse": delta(with_it, without, exp(mpf(eps)))} for eps in EPSILONS]
    text = "poisson:rate=%r,of=[laplace:sigma=%r]" % (rate, sigma)
    return entry(text, [[0], [1]], compared, divergences, hockey)


# Outcomes one by one.

def renyi(p, q, a):
    return log(sum(x ** a * y ** (1 - a) for x, y in zip(p, q))) / (a - 1)


def renyi_by_excess(p, q, a):
    return log1p(sum(y * ((x / y) ** a - 1 - a * (x / y - 1)) for x, y in zip(p, q))) / (a - 1)


def deltas(p, q, epsilon):
    x = exp(mpf(epsilon))
    first = sum((max(mpf(0), a - x * b) for a, b in zip(p, q)), mpf(0))
    return first, 1 - sum(min(a, x * b) for a, b in zip(p, q))


def outcomes(text, worlds, p, q, theorem):
    compared, divergences = Compared("1e-35"), []
    for order in ORDERS:
        a = mpf(order)
        values = [compared.value(renyi(*pair, a), renyi_by_excess(*pair, a)) for pair in ((p, q), (q, p))]
        divergences.append({"order": order, "forward": values[0], "reverse": values[1],
                            "theorem": compared.value(*theorem(a))})
    hockey = [{"epsilon": eps, "forward": compared.value(*deltas(p, q, eps)),
               "reverse": compared.value(*deltas(q, p, eps))} for eps in EPSILONS]
    return entry(text, worlds, compared, divergences, hockey)


def discrete_laplace(sigma, rate):
    """Outputs up to 0, and from 1 on."""
    r, q = exp(-1 / mpf(sigma)), mpf(rate)
    without, noisy = [1 / (1 + r), r / (1 + r)], [r / (1 + r), 1 / (1 + r)]
    with_it = [(1 - q) * a + q * b for a, b in zip(without, noisy)]

    def theorem(a):
        return [max(f(without, with_it, a), f(with_it, without, a)) for f in (renyi, renyi_by_excess)]

    text = "poisson:rate=%r,of=[discrete-laplace:sigma=%r]" % (rate, sigma)
    return outcomes(text, [[0], [1]], without, with_it, theorem)


def response(sigma, rate, data, neighbor):
    """Randomized response of a drawn voter; all others vote for the first class."""
    g, classes, big = mpf(rate), len(data), exp(1 / mpf(sigma))
    answer = lambda truth: [(big if c == truth else 1) / (big + classes - 1) for c in range(classes)]
    own = lambda votes: [(1 - g) * a + g * b for a, b in zip(answer(0), answer(votes.index(1)))]
    p, q = own(data), own(neighbor)

    def theorem(a):
        """The profile gamma delta at x = 1 + gamma (e^eps - 1) from 1 on, mirrored below: a pair by its slopes.

        delta of the response is linear in e^eps between e^-eps and 1, 1 and e^eps, with slopes from its outcomes.
        """
        total = big + classes - 1
        delta = lambda y: max(big - y, 0) / total + (classes - 2) * max(1 - y, 0) / total + max(1 - y * big, 0) / total
        above = lambda x: g * delta((x - 1 + g) / g) if x >= 1 else None
        profile = lambda x: above(x) if x >= 1 else 1 - x + x * above(1 / x)
        top = 1 - g + g * big
        knots = [0, 1 / top, mpf(1), top]
        slopes = [(profile(knots[i + 1]) - profile(knots[i])) / (knots[i + 1] - knots[i]) for i in (1, 2)]
        # Below the first knot the slope is -1; an atom of Q at each change of slope, of P times the ratio.
        q_at = [slopes[0] + 1, slopes[1] - slopes[0], -slopes[1]]
        p_at = [mass * x for mass, x in zip(q_at, knots[1:])]
        assert abs(sum(p_at) - 1) < mpf("1e-40") and abs(sum(q_at) - 1) < mpf("1e-40")
        return renyi(p_at, q_at, a), renyi_by_excess(p_at, q_at, a)

    text = "without-replacement:rate=%r,of=[randomized-response:sigma=%r]" % (rate, sigma)
    return outcomes(text, [data, neighbor], p, q, theorem)


def shuffled(sigma, users):
    epsilon = 1 / mpf(sigma)
    w, share = exp(epsilon) / (1 + exp(epsilon)), exp(-epsilon)
    chance = lambda k, n, p: binomial(n, k) * p ** k * (1 - p) ** (n - k) if 0 <= k <= n else mpf(0)
    others = lambda k: chance(k, users - 1, 1 - w)
    zero = [(1 - w) * others(k - 1) + w * others(k) for k in range(users + 1)]
    one = [w * others(k - 1) + (1 - w) * others(k) for k in range(users + 1)]
    p, q = [], []
    for clones in range(users):
        weight = chance(clones, users - 1, share)
        for first in range(clones + 2):
            with_it, without = chance(first - 1, clones, mpf(1) / 2), chance(first, clones, mpf(1) / 2)
            p.append(weight * (w * with_it + (1 - w) * without))
            q.append(weight * ((1 - w) * with_it + w * without))
    theorem = lambda a: (renyi(p, q, a), renyi_by_excess(p, q, a))
    text = "shuffled-response:sigma=%r,users=%d" % (sigma, users)
    return outcomes(text, [[1, 0], [0, 1]], zero, one, theorem)


def main():
    mp.dps = DIGITS
    entries = [replaced(sigma, rate) for sigma, rate in
               [(0.8, 0.01), (1, 0.25), (2, 0.001), (0.5, 0.5), (5, 0.9), (20, 0.0625)]]
    entries += [laplace(sigma, rate) for sigma, rate in [(1, 0.01), (0.5, 0.25), (3, 0.9)]]
    entries += [discrete_laplace(sigma, rate) for sigma, rate in [(1, 0.01), (0.25, 0.5), (4, 0.9)]]
    entries += [response(sigma, rate, data, neighbor) for sigma, rate, data, neighbor in
                [(1, 0.01, [1, 0], [0, 1]), (0.5, 0.5, [1, 0, 0], [0, 1, 0]), (2, 0.25, [0, 1, 0], [0, 0, 1])]]
    entries += [shuffled(sigma, users) for sigma, users in [(1, 1), (1, 10), (0.25, 30), (2, 60)]]
    table.write("subsampling.json", entries)
    print("worst", max(row["verify"]["rel_diff_second_method"] for row in entries))


if __name__ == "__main__":
    main()
