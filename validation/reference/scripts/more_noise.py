"""more_noise.json: two lists of probabilities, truncated geometric noise, sums of discrete Laplace variables, staircase
noise, and vectors of counts with Gaussian or Laplace noise, without and with one record.

    python validation/reference/scripts/more_noise.py

Every mechanism is computed twice from its definition.  First method: sums over all outputs, for the vectors a
one-dimensional integral, or for the hockey-stick divergence of Laplace noise the mixture of atoms and Irwin-Hall
densities that the sum of d losses is.  Second method: the two or three outputs that say all, repeated convolution,
closed forms, and nested integrals over one count after the other.  `theorems` are the divergences that the theorems
promise, in their order in the library.
"""
from mpmath import binomial, erfc, exp, factorial, floor, log, mp, mpf, quad, sqrt

import table

DIGITS = 50
ORDERS = [1.0625, 1.5, 2, 8, 40, 1000]
EPSILONS = [0, 0.1, 0.5, 1]

CATEGORICAL = [
    ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]),
    ([0.25, 0.75], [0.75, 0.25]),
    ([1e-9, 0.5, 0.499999999], [1e-3, 0.4, 0.599]),
    ([0.5, 0.5, 0.0], [0.5, 0.25, 0.25]),
    ([0.5001, 0.2999, 0.2], [0.5, 0.3, 0.2]),
    ([0.125, 0.125, 0.25, 0.5], [0.5, 0.25, 0.125, 0.125]),
]
TRUNCATED = [(2.0, 0, 3), (0.5, 2, 3), (1.0, 3, 3), (3.0, 7, 4), (0.25, 1, 1), (4.0, 50, 2000), (1.0, 12, 10)]
SUMS = [(1.0, 1), (0.25, 2), (1.0, 2), (3.0, 2), (1.0, 3), (2.0, 4), (0.5, 5)]
STAIRCASE = [(1.0, None), (0.25, None), (5.0, None), (1.0, 0.25), (1.0, 0.75), (0.5, 0.0), (2.0, 1.0)]
VECTORS = [("gaussian", 2.0, 1), ("gaussian", 4.0, 9), ("gaussian", 20.0, 100), ("gaussian", 700.0, 1000000),
           ("laplace", 1.0, 1), ("laplace", 2.0, 2), ("laplace", 0.5, 2), ("laplace", 3.0, 3)]


def renyi(pairs, order):
    """Of pairs of logarithms of probabilities, None for 0."""
    a = mpf(order)
    if any(p is not None and q is None for p, q in pairs):
        return mpf("inf")
    return log(sum(exp(a * p + (1 - a) * q) for p, q in pairs if p is not None)) / (a - 1)


def renyi_of_numbers(pairs, order):
    """The same of probabilities, as the mean of a power of their ratio."""
    a = mpf(order)
    if any(p > 0 and q == 0 for p, q in pairs):
        return mpf("inf")
    return log(sum(p * (p / q) ** (a - 1) for p, q in pairs if p > 0)) / (a - 1)


def delta(pairs, epsilon):
    """The sum of max(0, P - e^eps Q), of probabilities."""
    x = exp(mpf(epsilon))
    return sum((max(mpf(0), p - x * q) for p, q in pairs), mpf(0))


def dual(pairs, epsilon):
    """1 less the sum of min(P, e^eps Q)."""
    x = exp(mpf(epsilon))
    return 1 - sum(min(p, x * q) for p, q in pairs)


def turned(pairs):
    return [(q, p) for p, q in pairs]


def response(sigma):
    r = exp(-1 / mpf(sigma))
    return [(1 / (1 + r), r / (1 + r)), (r / (1 + r), 1 / (1 + r))]


class Compared:
    def __init__(self):
        self.worst = mpf(0)

    def value(self, first, second):
        if first == mpf("inf"):
            assert second == first
            return "inf"
        self.worst = max(self.worst, abs(first - second) / max(abs(first), mpf("1e-12")))
        assert self.worst < mpf("1e-28"), (first, second)
        return table.decimal(first)


def from_pairs(text, first, second, theorems, cut=False):
    """An entry of the probabilities of all outputs, by two methods; `theorems` are given forward and reverse."""
    compared, divergences, hockey = Compared(), [], []
    for order in ORDERS:
        ways = []
        for way in (lambda pairs: pairs, turned):
            one, other = way(first), way(second)
            logs = [(log(p) if p > 0 else None, log(q) if q > 0 else None) for p, q in one]
            ways.append(compared.value(renyi(logs, order), renyi_of_numbers(other, order)))
        promised = [[table.decimal(v) if v != mpf("inf") else "inf" for v in both] for both in theorems(order)]
        divergences.append({"order": order, "forward": ways[0], "reverse": ways[1], "theorems": promised})
    for epsilon in EPSILONS:
        ways = [compared.value(delta(way(first), epsilon), dual(way(second), epsilon))
                for way in (lambda pairs: pairs, turned)]
        hockey.append({"epsilon": epsilon, "forward": ways[0], "reverse": ways[1]})
    return {"mechanism": text, "cut": cut,
            "expected": {"divergences": divergences, "hockey_stick": hockey},
            "verify": {"rel_diff_second_method": float("%.3g" % compared.worst)}}


def both(value):
    return [value, value]


def categorical(p, q):
    exact = [[mpf(x) for x in one] for one in (p, q)]
    p_, q_ = [[x / sum(one) for x in one] for one in exact]
    pairs = list(zip(p_, q_))
    text = "categorical:p=%s,q=%s" % tuple("/".join(repr(x) for x in one) for one in (p, q))
    return from_pairs(text, pairs, list(reversed(pairs)), lambda order: [
        [renyi_of_numbers(pairs, order), renyi_of_numbers(turned(pairs), order)]])


def truncated(sigma, count, limit):
    r = exp(-1 / mpf(sigma))
    reach = int(300 * sigma) + 10 + abs(count - limit) + 2

    def outputs(c):
        all_ = {}
        for z in range(-reach, reach + 1):
            y = min(max(c + z, 0), limit)
            all_[y] = all_.get(y, mpf(0)) + (1 - r) / (1 + r) * r ** abs(z)
        # What is beyond the reach is cut off, or of the same ratio as its neighbor.
        rest = r ** (reach + 1) / (1 + r)
        all_[max(min(c - reach, limit), 0)] += rest
        all_[min(c + reach, limit)] += rest
        return all_

    without, with_ = outputs(count), outputs(count + 1)
    places = sorted(set(without) | set(with_))
    first = [(without.get(y, mpf(0)), with_.get(y, mpf(0))) for y in places]
    first = [(p, q) for p, q in first if p > 0 and q > 0]
    if count < limit:
        second = response(sigma)
    else:
        m = count - limit
        p, q = r ** (m + 1) / (1 + r), r ** (m + 2) / (1 + r)
        second = [(p, q), (1 - p, 1 - q)]
    return from_pairs("truncated-geometric:sigma=%r,count=%d,limit=%d" % (sigma, count, limit), first, second,
                      lambda order: [both(renyi_of_numbers(response(sigma), order)),
                                     [renyi_of_numbers(second, order), renyi_of_numbers(turned(second), order)]])


def sum_by_series(sigma, terms, reach):
    """P(S = z) as the difference of two negative binomial variables."""
    r, k = exp(-1 / mpf(sigma)), terms
    count = int(80 * sigma) + 40 * k
    weights = [binomial(k - 1 + j, k - 1) for j in range(count + reach + 1)]
    powers = [r ** j for j in range(2 * count + reach + 1)]
    return [(1 - r) ** (2 * k) * sum(weights[z + j] * weights[j] * powers[2 * j + z] for j in range(count))
            for z in range(reach + 1)]


def sum_by_convolution(sigma, terms, reach):
    r = exp(-1 / mpf(sigma))
    wide = reach + terms * (int(60 * sigma) + 20)
    one = [(1 - r) / (1 + r) * r ** abs(z) for z in range(2 * wide + 1)]
    sums = one[:wide + 1]
    for _ in range(terms - 1):
        # A convolution with r^|z|: what comes from the left, and from the right.
        whole = sums[:0:-1] + sums
        left, right = [mpf(0)] * len(whole), [mpf(0)] * len(whole)
        for i, value in enumerate(whole):
            left[i] = value + (r * left[i - 1] if i else 0)
        for i in range(len(whole) - 2, -1, -1):
            right[i] = r * (right[i + 1] + whole[i + 1])
        sums = [(1 - r) / (1 + r) * (left[i] + right[i]) for i in range(wide, 2 * wide + 1)]
    return sums[:reach + 1]


def laplace_sum(sigma, terms):
    reach = int((1000 * terms * sigma) ** 0.5 + 130 * sigma) + 20 * terms
    pairs = []
    for method in (sum_by_series, sum_by_convolution):
        p = method(sigma, terms, reach + 1)
        pairs.append([(p[abs(y)], p[abs(y - 1)]) for y in range(-reach, reach + 1)])
    return from_pairs("discrete-laplace-sum:sigma=%r,terms=%d" % (sigma, terms), pairs[0], pairs[1],
                      lambda order: [both(renyi_of_numbers(response(sigma), order)),
                                     both(renyi_of_numbers(pairs[0], order))])


def staircase(sigma, gamma):
    e = 1 / mpf(sigma)
    b = exp(-e)
    # The text has the double.
    text = "staircase:sigma=%r" % sigma
    g = 1 / (1 + exp(e / 2)) if gamma is None else mpf(gamma)
    if gamma is not None:
        text += ",gamma=%r" % gamma
    a = (1 - b) / (2 * (g + b * (1 - g)))

    def density(x):
        unit = floor(abs(x))
        return a * b ** (unit if abs(x) - unit < g else unit + 1)

    reach = int(130 * sigma) + 3
    edges = sorted(set(mpf(k) + part for k in range(-reach, reach) for part in (0, g, 1 - g)))
    first = [((y - x) * density((x + y) / 2), (y - x) * density((x + y) / 2 - 1)) for x, y in zip(edges, edges[1:])]
    middle = abs(1 - 2 * g) * a * (b if g <= mpf(1) / 2 else 1)
    outer = (1 - middle) / (1 + b)
    second = [(outer, b * outer), (middle, middle), (b * outer, outer)]
    return from_pairs(text, first, second, lambda order: [both(renyi_of_numbers(response(sigma), order)),
                                                          both(renyi_of_numbers(second, order))])


def laplace_renyi(t, a):
    return log(a / (2 * a - 1) * exp((a - 1) * t) + (a - 1) / (2 * a - 1) * exp(-a * t)) / (a - 1)


def laplace_by_integral(t, a):
    inner = quad(lambda y: exp(-t * (a * y + (1 - a) * (1 - y))) * t / 2, [0, mpf(1) / 2, 1])
    return log(exp((a - 1) * t) / 2 + exp(-a * t) / 2 + inner) / (a - 1)


def gaussian_by_integral(shift, a):
    # Around the peak at (1-a) shift.
    c = (1 - a) * shift
    return log(quad(lambda x: exp(-a * x * x / 2 - (1 - a) * (x - shift) ** 2 / 2 - a * (a - 1) * shift ** 2 / 2),
                    [c - 16, c - 8, c - 3, c, c + 3, c + 8, c + 16]) / sqrt(2 * mp.pi)) / (a - 1) + a * shift ** 2 / 2


def gaussian_delta(shift, epsilon):
    def ndtr(x):
        return erfc(-x / sqrt(mpf(2))) / 2
    e = mpf(epsilon)
    return ndtr(shift / 2 - e / shift) - exp(e) * ndtr(-shift / 2 - e / shift)


def gaussian_delta_by_integral(shift, epsilon):
    # P is larger than e^eps Q for x < shift/2 - eps/shift.
    e = mpf(epsilon)
    end = shift / 2 - e / shift
    return quad(lambda x: (exp(-x * x / 2) - exp(e - (x - shift) ** 2 / 2)) / sqrt(2 * mp.pi),
                [end - 20, end - 12, end - 6, end - 2, end])


def irwin_hall(n, x):
    """The density of the sum of n uniform variables on (0, 1)."""
    return sum((-1) ** k * binomial(n, k) * (x - k) ** (n - 1) for k in range(int(floor(x)) + 1)) / factorial(n - 1)


def laplace_delta(t, d, epsilon):
    """By the measure e^(-l/2) P of the sum of losses: atoms at -t and t and a uniform part for each count."""
    e = mpf(epsilon)

    def excess(l):
        return max(mpf(0), exp(l / 2) - exp(e - l / 2))

    total = mpf(0)
    for n in range(d + 1):
        for m in range(d - n + 1):
            place, weight = (d - n - 2 * m) * t, binomial(d, n) * binomial(d - n, m) * t ** n
            if n == 0:
                total += weight * excess(place)
                continue
            # l = place + 2t(x - n/2) for x of Irwin and Hall.
            start = (e - place) / (2 * t) + mpf(n) / 2
            ends = [x for x in range(n + 1) if x > start]
            if ends:
                ends = [max(start, mpf(0))] + ends
                total += weight * quad(lambda x: irwin_hall(n, x) * excess(place + 2 * t * (x - mpf(n) / 2)), ends)
    return (exp(-t / 2) / 2) ** d * total


def laplace_delta_nested(t, d, epsilon):
    """One count after the other: the mean of the profile of the others at eps less the loss."""
    e = mpf(epsilon)
    if d == 0:
        return max(mpf(0), 1 - exp(e))
    if d == 1:
        if e >= t:
            return mpf(0)
        if e <= -t:
            return 1 - exp(e)
        # The outputs below y = (1 - e/t)/2, with P and Q of Laplace noise around 0 and 1.
        y = (1 - e / t) / 2
        return 1 - exp(-t * y) / 2 - exp(e) * exp(-t * (1 - y)) / 2
    inner = t * (d - 1)
    kinks = sorted({min(max(x, mpf(0)), mpf(1)) for k in range(-(d - 1), d)
                    for x in [(1 - (e - k * t) / t) / 2]} | {mpf(0), mpf(1)})
    part = quad(lambda y: laplace_delta_nested(t, d - 1, e - t * (1 - 2 * y)) * exp(-t * y) * t / 2, kinks)
    del inner
    return (laplace_delta_nested(t, d - 1, e - t) + exp(-t) * laplace_delta_nested(t, d - 1, e + t)) / 2 + part


def vector(noise, sigma, counts):
    compared, divergences, hockey = Compared(), [], []
    d, t = mpf(counts), 1 / mpf(sigma)
    shift = sqrt(d) * t
    for order in ORDERS:
        a = mpf(order)
        if noise == "gaussian":
            value = compared.value(d * a * t * t / 2, gaussian_by_integral(shift, a))
        else:
            value = compared.value(d * laplace_renyi(t, a), d * laplace_by_integral(t, a))
        divergences.append({"order": order, "forward": value, "reverse": value, "theorems": [[value, value]]})
    for epsilon in EPSILONS:
        if noise == "gaussian":
            value = compared.value(gaussian_delta(shift, epsilon), gaussian_delta_by_integral(shift, epsilon))
        else:
            value = compared.value(laplace_delta(t, counts, epsilon), laplace_delta_nested(t, counts, epsilon))
        hockey.append({"epsilon": epsilon, "forward": value, "reverse": value})
    return {"mechanism": "%s-vector:sigma=%r,counts=%d" % (noise, sigma, counts), "cut": True,
            "expected": {"divergences": divergences, "hockey_stick": hockey},
            "verify": {"rel_diff_second_method": float("%.3g" % compared.worst)}}


def main():
    mp.dps = DIGITS
    entries = [categorical(*given) for given in CATEGORICAL]
    entries += [truncated(*given) for given in TRUNCATED]
    entries += [laplace_sum(*given) for given in SUMS]
    entries += [staircase(*given) for given in STAIRCASE]
    entries += [vector(*given) for given in VECTORS]
    table.write("more_noise.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))


if __name__ == "__main__":
    main()
