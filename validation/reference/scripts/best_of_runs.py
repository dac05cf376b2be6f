"""best_of_runs.json: Renyi bounds of the best of a random number of runs, and exact selections.

    python validation/reference/scripts/best_of_runs.py

`curve` is the bound of one run: order/(2 sigma^2), or the divergence of randomized response whose truth has
probability p.  `values` are the bounds of the best run at the same orders: for a truncated negative binomial number of
runs the theorem of Papernot and Steinke (2022), with the least over the orders and order 1; for a Poisson number theirs
with the probability of no run added.  Each order takes the least of those from it on.  The ratio of the negative
binomial distribution is found from its mean by bisection.

For randomized response `exact` is the divergence of the selection itself, the larger of two directions and of which of
the answers is better, with the distribution of the best answer from the generating function of the number of runs.
Second method: the same by a sum over the numbers of runs, for means up to 10.
"""
import functools

from mpmath import exp, expm1, log, mp, mpf

import table

DIGITS = 60
ORDERS = [1.25, 1.5, 2, 3, 5, 8, 16, 32, 64, 256]
SHAPES = [-0.5, 0, 0.75, 1, 3]
MEANS = [1.5, 10, 1000]
POISSON = [0.25, 1, 10, 300]
SIGMAS = [0.75, 4, 30]
TRUTHS = [0.5625, 0.75, 0.9375]


def mean_of(shape, t):
    """The mean at ratio 1 - e^-t."""
    if shape == 0:
        return expm1(t) / t
    return shape * expm1(t) / -expm1(-shape * t)


@functools.cache
def log_inverse(shape, mean):
    low, high = mpf(0), mpf(1)
    while mean_of(shape, high) < mean:
        high *= 2
    for _ in range(230):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_of(shape, middle) < mean else (low, middle)
    return (low + high) / 2


def delta(curve, epsilon):
    """Balle et al. (2020), Theorem 21, solved for delta; the least over the orders."""
    found = mpf(1)
    for a, rdp in curve:
        found = min(found, exp((a - 1) * (rdp - epsilon + log((a - 1) / a)) - log(a)))
    return found


def best(curve, runs):
    kind, shape, mean = runs
    values = []
    if kind == "poisson":
        for a, rdp in curve:
            x = (a - 1) * (rdp + mean * delta(curve, log(a / (a - 1))))
            values.append(log(exp(-mean) + mean * exp(x)) / (a - 1))
    else:
        t = log_inverse(shape, mean)
        more = (1 + shape) * min([t] + [(1 - 1 / a) * rdp + t / a for a, rdp in curve])
        values = [rdp + more + log(mean) / (a - 1) for a, rdp in curve]
    for i in reversed(range(len(values) - 1)):
        values[i] = min(values[i], values[i + 1])
    return values


def generating(runs):
    kind, shape, mean = runs
    if kind == "poisson":
        return lambda x: exp(mean * (x - 1))
    ratio = -expm1(-log_inverse(shape, mean))
    if shape == 0:
        return lambda x: log(1 - ratio * x) / log(1 - ratio)
    return lambda x: ((1 - ratio * x) ** -shape - 1) / ((1 - ratio) ** -shape - 1)


def by_generating(runs, worse):
    """No run, the worse of two answers, the better one."""
    f = generating(runs)
    return [f(0), f(worse) - f(0), 1 - f(worse)]


def by_sum(runs, worse):
    """The probability of each number of runs, times that of no better answer."""
    kind, shape, mean = runs
    nothing, low, total = mpf(0), mpf(0), mpf(0)
    if kind == "poisson":
        weight, k = exp(-mean), 0
        nothing = weight
        while weight > mpf(10) ** -70 or k < mean:
            if k > 0:
                low += weight * worse ** k
            total += weight
            k += 1
            weight *= mean / k
    else:
        ratio = -expm1(-log_inverse(shape, mean))
        # Up to a factor: (ratio^k) prod (l + shape)/(l + 1), the first of which is left out.
        weight, k = ratio, 1
        while weight > mpf(10) ** -65 * (1 - ratio):
            low += weight * worse ** k
            total += weight
            weight *= ratio * (k + shape) / (k + 1)
            k += 1
    return [nothing / total, low / total, 1 - (nothing + low) / total]


def divergence(p, q, a):
    return log(sum(x ** a * y ** (1 - a) for x, y in zip(p, q) if x > 0)) / (a - 1)


def selection(pair, a):
    """The larger divergence of the selection: the better answer is the first or the second."""
    return max(divergence(pair[0], pair[1], a), divergence(pair[1], pair[0], a))


def numbers_of_runs():
    for mean in POISSON:
        yield "poisson", None, mpf(mean)
    for shape in SHAPES:
        for mean in MEANS:
            yield "negative-binomial", mpf(shape), mpf(mean)


def main():
    mp.dps = DIGITS
    entries, worst = [], mpf(0)
    for runs in numbers_of_runs():
        kind, shape, mean = runs
        own = {"runs": kind, "mean": float(mean)}
        if shape is not None:
            own["shape"] = float(shape)
        for sigma in SIGMAS:
            curve = [(mpf(a), mpf(a) / (2 * mpf(sigma) ** 2)) for a in ORDERS]
            values = [table.decimal(value) for value in best(curve, runs)]
            entries.append({**own, "gaussian": sigma, "orders": ORDERS, "expected": {"values": values}, "verify": 0.0})
        for truth in TRUTHS:
            p, q = [mpf(truth), 1 - mpf(truth)], [1 - mpf(truth), mpf(truth)]
            curve = [(mpf(a), divergence(p, q, mpf(a))) for a in ORDERS]
            values, exact = best(curve, runs), []
            first = [by_generating(runs, worse) for worse in p]
            second = [by_sum(runs, worse) for worse in p] if mean <= 10 else None
            for (a, _), bound in zip(curve, values):
                one = selection(first, a)
                if second is not None:
                    worst = max(worst, abs(one - selection(second, a)) / one)
                assert one <= bound, (runs, truth, a, one, bound)
                exact.append(one)
            expected = {"values": [table.decimal(v) for v in values], "exact": [table.decimal(v) for v in exact]}
            entries.append({**own, "truth": truth, "orders": ORDERS, "expected": expected, "verify": 0.0})
    verify = float("%.3g" % float(worst))
    table.write("best_of_runs.json", [{**entry, "verify": verify} for entry in entries])
    print("largest difference of the two methods", verify)


if __name__ == "__main__":
    main()
