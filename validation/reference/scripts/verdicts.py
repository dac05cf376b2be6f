"""verdicts.json: what a right claim about one output of a mechanism is.

    python validation/reference/scripts/verdicts.py

For many scales s: ε at δ, δ at ε, Rényi divergences and μ, the larger of both directions.  Mechanisms with few kinds of outcomes
are written out as those; what is released as a number has closed forms.  `exact` says whether bins lose nothing of it.

Second method: ε by bisection of the profile Σ max(0, p - e^ε q); δ by its dual form; divergences as sums of logarithms;
μ with more digits; closed forms by numerical integration of the densities, or arranged in another way.
"""
import random

from mpmath import atanh, binomial, erfc, erfinv, exp, log, mp, mpf, ncdf, quad, sqrt

import table

SCALES = [0.1, 0.3, 0.5, 1, 2, 3, 4, 5, 7, 10, 20, 100, 1000] + [
    round(random.Random(place).uniform(0.2, 50), 3) for place in range(4)]
ORDERS = [1.25, 8]
DELTAS = [0, 1e-5]
EPSILONS = [0.001]


def quantile(p):
    """Φ⁻¹, from the smaller tail."""
    with mp.workdps(mp.dps + 40):
        return -sqrt(mpf(2)) * erfinv(1 - 2 * p)


def softmax(weights):
    return [w / sum(weights) for w in weights]


def answer(e, classes):
    """Randomized response: the truth, another answer, and all of the rest."""
    all_of = exp(e) + classes - 1
    p = [exp(e) / all_of, 1 / all_of] + ([(classes - 2) / all_of] if classes > 2 else [])
    return p, [p[1], p[0]] + p[2:]


def two_bits(keep, lie):
    """One bit of each of two classes: 1 with `keep` for the vote, with `lie` for the other."""
    bits = [(a, b) for a in (0, 1) for b in (0, 1)]
    share = lambda bit, one: one if bit else 1 - one
    return [[share(a, own) * share(b, other) for a, b in bits] for own, other in ((keep, lie), (lie, keep))]


def subsets(e, classes, size):
    """Whether either of two classes is in the subset."""
    ways = {(a, b): binomial(classes - 2, size - a - b) for a in (0, 1) for b in (0, 1)}
    return [softmax([n * exp(e * own[place]) for own, n in ways.items()]) for place in (0, 1)]


def hashing(e, hashes):
    """A function that tells two classes apart, or not."""
    p, q = answer(e, hashes)
    return [[x * (1 - mpf(1) / hashes) for x in side] + [mpf(1) / hashes] for side in (p, q)]


def permute_and_flip(lead):
    """Of two classes, the second `lead` scales behind."""
    second = exp(-lead) / 2
    return [1 - second, second]


def laplace_difference(lead):
    """P(the second of two counts is larger), each with Laplace noise, `lead` scales behind."""
    return exp(-lead) * (2 + lead) / 4


def truncated(e, count, limit):
    r = exp(-e)
    return [r ** count / (1 + r) if z == 0 else r ** (limit - count) / (1 + r) if z == limit
            else (1 - r) / (1 + r) * r ** abs(z - count) for z in range(limit + 1)]


def shuffled(e, users, own):
    lie = 1 / (exp(e) + 1)
    others = [binomial(users - 1, k) * lie ** k * (1 - lie) ** (users - 1 - k) for k in range(users)] + [0]
    one = 1 - lie if own else lie
    return [(others[k - 1] if k else 0) * one + others[k] * (1 - one) for k in range(users + 1)]


def finite(s):
    """Text form, data, neighbor, and both distributions."""
    e, pair = 1 / s, lambda p, q: (list(p), list(q))
    yield "randomized-response:sigma=S", [1, 0], [0, 1], answer(e, 2)
    yield "randomized-response:sigma=S", [1, 0, 0, 0], [0, 1, 0, 0], answer(e, 4)
    keep = exp(e / 2) / (exp(e / 2) + 1)
    yield "symmetric-unary:sigma=S", [1, 0, 0], [0, 1, 0], two_bits(keep, 1 - keep)
    yield "optimized-unary:sigma=S", [1, 0, 0], [0, 1, 0], two_bits(mpf(1) / 2, 1 / (exp(e) + 1))
    yield "local-hashing:sigma=S,hashes=3", [1, 0], [0, 1], hashing(e, 3)
    yield "subset-selection:sigma=S,size=2", [1, 0, 0, 0, 0], [0, 1, 0, 0, 0], subsets(e, 5, 2)
    yield "exponential:sigma=S", [3, 1, 4], [3, 2, 3], pair(
        softmax([exp(e * (n - 4)) for n in (3, 1, 4)]), softmax([exp(e * (n - 4)) for n in (3, 2, 3)]))
    yield "permute-and-flip:sigma=S", [5, 2], [4, 3], pair(permute_and_flip(3 * e), permute_and_flip(e))
    p, q = laplace_difference(3 * e), laplace_difference(e)
    yield "lnmax:sigma=S", [5, 2], [4, 3], pair([1 - p, p], [1 - q, q])
    p, q = [erfc(n * e / 2) / 2 for n in (3, 1)]
    yield "gnmax:sigma=S", [5, 2], [4, 3], pair([1 - p, p], [1 - q, q])
    # The sign of the noise is all that tells the counts apart.
    r = exp(-e)
    yield "discrete-laplace:sigma=S", [0], [1], pair([1 / (1 + r), r / (1 + r)], [r / (1 + r), 1 / (1 + r)])
    yield "truncated-geometric:sigma=S,count=1,limit=3", [0], [1], pair(truncated(e, 1, 3), truncated(e, 2, 3))
    yield "shuffled-response:sigma=S,users=4", [1, 0], [0, 1], pair(shuffled(e, 4, 0), shuffled(e, 4, 1))
    truth, lie = answer(e, 2)
    mixed = [(3 * x + y) / 4 for x, y in zip(truth, lie)]
    yield "without-replacement:rate=0.25,of=[randomized-response:sigma=S]", [1, 0], [0, 1], pair(truth, mixed)


def renyi(p, q, a):
    return log(sum(x ** a * y ** (1 - a) for x, y in zip(p, q))) / (a - 1)


def renyi_by_logs(p, q, a):
    terms = [a * log(x) + (1 - a) * log(y) for x, y in zip(p, q)]
    return (max(terms) + log(sum(exp(t - max(terms)) for t in terms))) / (a - 1)


def sets(p, q):
    ranked = sorted(zip(p, q), key=lambda pair: -pair[0] / pair[1])
    return [(sum(x for x, _ in ranked[:k]), sum(y for _, y in ranked[:k])) for k in range(1, len(ranked))]


def epsilon(p, q, delta):
    return max([mpf(0)] + [log((x - delta) / y) for x, y in sets(p, q) if x > delta])


def epsilon_by_bisection(p, q, delta):
    excess = lambda e: sum(max(mpf(0), x - exp(e) * y) for x, y in zip(p, q))
    low, high = mpf(0), mpf(20000)
    if excess(low) <= delta:
        return low
    for _ in range(250):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high


def delta(p, q, e):
    return sum((max(mpf(0), x - exp(e) * y) for x, y in zip(p, q)), mpf(0))


def delta_by_minima(p, q, e):
    return sum(p) - sum(min(x, exp(e) * y) for x, y in zip(p, q))


def mu(p, q):
    return max([mpf(0)] + [quantile(x) - quantile(y) for x, y in sets(p, q)])


def of_finite(s):
    for text, data, neighbor, (p, q) in finite(mpf(s)):
        both = [(p, q), (q, p)]
        for d in map(mpf, DELTAS):
            values = [[f(*pair, d) for pair in both] for f in (epsilon, epsilon_by_bisection)]
            yield text, data, neighbor, "epsilon", float(d), *map(max, values), True
        for a in map(mpf, ORDERS):
            values = [[f(*pair, a) for pair in both] for f in (renyi, renyi_by_logs)]
            yield text, data, neighbor, "renyi", float(a), *map(max, values), True
        for e in map(mpf, EPSILONS):
            values = [[f(*pair, e) for pair in both] for f in (delta, delta_by_minima)]
            yield text, data, neighbor, "delta", float(e), *map(max, values), True
        # Tails that 80 digits hold.
        if min(p + q) > mpf("1e-30"):
            with mp.workdps(mp.dps + 20):
                again = mu(p, q)
            yield text, data, neighbor, "mu", None, mu(p, q), again, True


def of_numbers(s):
    """Mechanisms that release a number: the closed form, and an integral or the closed form with more digits."""
    s = mpf(s)
    e, data = 1 / s, ([0], [1])
    yield "gaussian:sigma=S", *data, "mu", None, e, quantile(ncdf(e / 2)) - quantile(ncdf(-e / 2)), True
    yield "gaussian-vector:sigma=S,counts=3", *data, "mu", None, sqrt(3) / s, sqrt(3 / s ** 2), True
    for text, pure in (("laplace:sigma=S", e), ("staircase:sigma=S,gamma=0.25", e)):
        yield text, *data, "epsilon", 0.0, pure, 2 * atanh((exp(pure) - 1) / (exp(pure) + 1)), True
    rate = mpf(0.25)
    mixed = log(1 + rate * (exp(e) - 1))
    yield "poisson:rate=0.25,of=[laplace:sigma=S]", *data, "epsilon", 0.0, mixed, log(1 - rate + rate * exp(e)), True
    yield "laplace-vector:sigma=S,counts=2", *data, "epsilon", 0.0, 2 * e, 2 / s, False
    yield "discrete-laplace-sum:sigma=S,terms=2", *data, "epsilon", 0.0, e, 1 / s, False
    for a in map(mpf, ORDERS):
        yield "gaussian:sigma=S", *data, "renyi", float(a), a * e * e / 2, a / (2 * s * s), False
        closed = log(a / (2 * a - 1) * exp((a - 1) * e) + (a - 1) / (2 * a - 1) * exp(-a * e)) / (a - 1)
        if s >= 1:
            inside = quad(lambda x: exp(-a * x + (1 - a) * (x - e)) / 2, [0, e])
            again = log(inside + exp((a - 1) * e) / 2 + exp(-a * e) / 2) / (a - 1)
        else:
            again = closed
        yield "laplace:sigma=S", *data, "renyi", float(a), closed, again, False
    for delta in map(mpf, DELTAS[1:]):
        value = max(mpf(0), e + 2 * log(1 - delta))
        again = max(mpf(0), 2 * log((1 - delta) * exp(e / 2)))
        yield "laplace:sigma=S", *data, "epsilon", float(delta), value, again, False


def main():
    mp.dps = 80
    entries, worst = [], mpf(0)
    for s in SCALES:
        for text, data, neighbor, quantity, at, value, again, exact in [*of_finite(s), *of_numbers(s)]:
            difference = abs(value - again) / max(abs(value), mpf("1e-30"))
            assert difference < mpf("1e-38"), (text, s, quantity, at, value, again)
            worst = max(worst, difference)
            mechanism = text.replace("S", repr(s))
            entries.append([mechanism, data, neighbor, quantity, at, table.decimal(value), exact])
    table.write("verdicts.json", entries)
    print("worst", float("%.3g" % worst))


if __name__ == "__main__":
    main()
