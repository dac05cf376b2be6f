"""above_threshold.json: which answers are above a noisy threshold, with Laplace and Gaussian noise.

    python validation/reference/scripts/above_threshold.py

The probability that the answers in A are above and those in B below is the integral over the noisy threshold t of
f(t - T) prod_B F(t - a_i) prod_A (1 - F(t - a_i)).  Answers are looked at until `cutoff` of them are above.

Laplace noise, first method: between two neighboring numbers among T and the answers every factor is a sum of
exponentials of t; products are expanded and integrated term by term, with as many digits as cancel.  Second method:
numerical integration between the same numbers.  Gaussian noise, first method: the trapezoid rule on the line, of which
the error falls faster than exponentially with the step; second method: Gauss-Legendre panels.  With one answer also the
closed form.  The values of a file mechanisms.json are compared too, where its folder is given as an argument.
"""
import json
import sys
from itertools import product

from mpmath import erfc, exp, inf, log, mp, mpf, pi, sqrt

import table

DIGITS = 50
ORDERS = [1.0625, 1.5, 2, 8, 32]
EPSILONS = [0, 0.1, 0.5, 1]
NODES = []

# noise, threshold, its scale, scale of the answers, cutoff (None: above-threshold), answers, neighbor
CASES = [
    ("laplace", 3, 2, 4, None, [3, 1, 4, 1, 5], [2, 2, 3, 2, 4]),
    ("laplace", 3, 1, 1, None, [3], [4]),
    ("laplace", 0, 0.5, 0.25, None, [0, 0], [1, 0]),
    ("laplace", 2.5, 1, 3, None, [1, 2, 3], [2, 3, 2]),
    ("laplace", 5, 0.125, 0.125, None, [5, 5, 5], [6, 6, 4]),
    ("laplace", 7, 20, 0.5, None, [7, 7, 9, 2], [8, 8, 8, 1]),
    ("laplace", 7, 0.5, 20, None, [7, 7, 9, 2], [6, 8, 10, 2]),
    ("laplace", 100, 2, 1, None, [3, 1], [4, 0]),
    ("laplace", 3000, 2, 1, None, [3, 1, 2], [4, 0, 3]),
    ("laplace", 0, 2, 1, None, [1000, 3000], [1001, 2999]),
    ("laplace", 100000, 1000, 0.25, None, [1, 3, 200000], [2, 2, 199999]),
    ("laplace", 4, 2, 8, 2, [3, 1, 4, 1], [4, 0, 5, 2]),
    ("laplace", 1, 1, 1, 3, [1, 1, 1, 1], [0, 2, 0, 1]),
    ("laplace", 2, 3, 6, 5, [3, 1, 4], [2, 2, 3]),
    ("gaussian", 3, 2, 4, None, [3, 1, 4, 1, 5], [2, 2, 3, 2, 4]),
    ("gaussian", 3, 1, 1, None, [3], [4]),
    ("gaussian", 0, 0.5, 0.25, None, [0, 0], [1, 0]),
    ("gaussian", 2.5, 1, 3, None, [1, 2, 3], [2, 3, 2]),
    ("gaussian", 5, 0.125, 0.125, None, [5, 5, 5], [6, 6, 4]),
    ("gaussian", 7, 8, 0.5, None, [7, 7, 9, 2], [8, 8, 8, 1]),
    ("gaussian", 7, 0.5, 8, None, [7, 7, 9, 2], [6, 8, 10, 2]),
    ("gaussian", 100, 2, 1, None, [3, 1], [4, 0]),
    ("gaussian", 0, 2, 1, None, [200, 60], [201, 59]),
    ("gaussian", 4, 2, 8, 2, [3, 1, 4, 1], [4, 0, 5, 2]),
    ("gaussian", 1, 1, 1, 3, [1, 1, 1, 1], [0, 2, 0, 1]),
    ("gaussian", 2, 3, 6, 5, [3, 1, 4], [2, 2, 3]),
]


def outcomes(answers, cutoff):
    """All sequences of above (True) and below until the cutoff, above before below."""
    found = []
    for bits in product([True, False], repeat=answers):
        end, seen = answers, 0
        for place, above in enumerate(bits):
            seen += above
            if seen == cutoff:
                end = place + 1
                break
        if bits[:end] not in found:
            found.append(bits[:end])
    return found


def laplace_terms(center, scale, kind, right):
    """A factor on one side of its center as {exponent: coefficient} of exp(exponent * t)."""
    rate = 1 / scale
    if kind == "density":
        return {(-rate if right else rate): exp((center if right else -center) * rate) * rate / 2}
    below = kind == "below"
    if right == below:
        # 1 - exp(-|z|)/2
        sign = -1 if right else 1
        return {mpf(0): mpf(1), sign * rate: -exp(-sign * center * rate) / 2}
    sign = -1 if right else 1
    return {sign * rate: exp(-sign * center * rate) / 2}


def laplace_exact(case, answers, bits):
    threshold, tau, sigma = mpf(case[1]), mpf(case[2]), mpf(case[3])
    parts = [(threshold, tau, "density")]
    parts += [(mpf(a), sigma, "above" if above else "below") for a, above in zip(answers, bits)]
    kinks = sorted({part[0] for part in parts})
    total = mpf(0)
    for low, high in zip([-inf] + kinks, kinks + [inf]):
        # Of the exponentials, measured from a point of the piece.
        base = low if low != -inf else high
        terms = {mpf(0): mpf(1)}
        for center, scale, kind in parts:
            right = low >= center
            factor = laplace_terms(center - base, scale, kind, right)
            new = {}
            for (e, c), (f, d) in product(terms.items(), factor.items()):
                new[e + f] = new.get(e + f, mpf(0)) + c * d
            terms = new
        for e, c in terms.items():
            if e == 0:
                if c != 0:
                    assert high != inf and low != -inf
                    total += c * (high - low)
                continue
            upper = mpf(0) if high == inf else exp(e * (high - base))
            lower = mpf(0) if low == -inf else exp(e * (low - base))
            total += c * (upper - lower) / e
    return total


def log_factor(noise, kind, z):
    if kind == "density":
        return -abs(z) - log(mpf(2)) if noise == "laplace" else -z * z / 2 - log(sqrt(2 * pi))
    z = -z if kind == "above" else z
    if noise == "gaussian":
        return log(erfc(-z / sqrt(mpf(2))) / 2)
    return z - log(mpf(2)) if z < 0 else log(1 - exp(-z) / 2)


def log_integrand(case, answers, bits):
    noise, threshold, tau, sigma = case[0], mpf(case[1]), mpf(case[2]), mpf(case[3])

    def value(t):
        total = log_factor(noise, "density", (t - threshold) / tau) - log(tau)
        for a, above in zip(answers, bits):
            total += log_factor(noise, "above" if above else "below", (t - a) / sigma)
        return total

    return value


def window(case, answers, bits, drop):
    """The peak and where the integrand is exp(-drop) of it."""
    value = log_integrand(case, answers, bits)
    kinks = sorted({mpf(case[1])} | {mpf(a) for a in answers})
    reach = 200 * (mpf(case[2]) + mpf(case[3]))
    low, high = kinks[0] - reach, kinks[-1] + reach
    with mp.workdps(25):
        for _ in range(140):
            a, b = low + (high - low) * mpf("0.4"), low + (high - low) * mpf("0.6")
            low, high = (a, high) if value(a) < value(b) else (low, b)
        best = max(kinks + [(low + high) / 2], key=value)
        top = value(best)
        ends = []
        for sign in (-1, 1):
            step = min(mpf(case[2]), mpf(case[3])) / 4
            while value(best + sign * step) > top - drop:
                step *= mpf("1.1")
            ends.append(best + sign * step)
    return value, best, top, ends, kinks


def legendre(points):
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1], by Newton's method."""
    rule = []
    for i in range(points):
        x = mp.cos(pi * (i + mpf("0.75")) / (points + mpf("0.5")))
        for _ in range(8):
            p, q = mpf(1), x
            for k in range(2, points + 1):
                p, q = q, ((2 * k - 1) * x * q - (k - 1) * p) / k
            slope = points * (x * q - p) / (x * x - 1)
            x -= q / slope
        rule.append((x, 2 / ((1 - x * x) * slope * slope)))
    return rule


def by_panels(case, answers, bits):
    """Panels between kinks, halved until both halves together are the whole."""
    value, best, top, (low, high), kinks = window(case, answers, bits, 110)
    marks = [low, high, best]
    marks += [k + m * mpf(scale) for k in kinks for scale in case[2:4] for m in (-90, -20, -4, 0, 4, 20, 90)]
    marks = sorted({m for m in marks if low <= m <= high})

    def rule(a, b):
        middle, half = (a + b) / 2, (b - a) / 2
        return half * sum(w * exp(value(middle + half * x) - top) for x, w in NODES)

    def refine(a, b, whole, scale, depth=0):
        middle = (a + b) / 2
        left, right = rule(a, middle), rule(middle, b)
        if abs(left + right - whole) < scale * mpf("1e-30") or depth > 40:
            return left + right
        return refine(a, middle, left, scale, depth + 1) + refine(middle, b, right, scale, depth + 1)

    pieces = list(zip(marks, marks[1:]))
    wholes = [rule(a, b) for a, b in pieces]
    scale = sum(wholes)
    return sum(refine(a, b, whole, scale) for (a, b), whole in zip(pieces, wholes)) * exp(top)


def by_trapezoid(case, answers, bits):
    value, best, top, (low, high), _ = window(case, answers, bits, 120)
    step = min(mpf(case[2]), mpf(case[3])) / 12
    first, last = int((low - best) / step) - 1, int((high - best) / step) + 1
    return step * sum(exp(value(best + i * step) - top) for i in range(first, last + 1)) * exp(top)


class Compared:
    def __init__(self):
        self.worst = mpf(0)

    def value(self, first, second):
        self.worst = max(self.worst, abs(first - second) / abs(first))
        assert self.worst < mpf("1e-25"), (first, second)
        return first


def distribution(case, answers, compared):
    noise, cutoff = case[0], case[4] or 1
    found = []
    for bits in outcomes(len(answers), cutoff):
        if noise == "laplace":
            # Differences of exponentials cancel as far down as the value is.
            with mp.workdps(DIGITS + 3000 if max(abs(a - case[1]) for a in answers) > 50 * case[3] else 120):
                first = laplace_exact(case, answers, bits)
            second = by_panels(case, answers, bits)
        else:
            first, second = by_trapezoid(case, answers, bits), by_panels(case, answers, bits)
        found.append(compared.value(first, second))
    assert abs(sum(found) - 1) < mpf("1e-30"), sum(found)
    if noise == "gaussian" and len(answers) == 1:
        z = (mpf(answers[0]) - case[1]) / sqrt(mpf(case[2]) ** 2 + mpf(case[3]) ** 2)
        compared.value(found[0], erfc(-z / sqrt(mpf(2))) / 2)
    return found


def whole(p):
    """The largest from the others, so that what is next to 1 keeps the digits of what is next to 0."""
    top = p.index(max(p))
    return [1 - sum(p[:top] + p[top + 1:]) if place == top else x for place, x in enumerate(p)]


def digits(p, q):
    """Enough for a difference from 1 that is the smallest probability squared."""
    return DIGITS + int(2 * max(-mp.log10(x) for x in p + q)) + 20


def renyi(p, q, order):
    with mp.workdps(digits(p, q)):
        a = mpf(order)
        return log(sum(x ** a * y ** (1 - a) for x, y in zip(whole(p), whole(q)))) / (a - 1)


def hockey_stick(p, q, epsilon):
    with mp.workdps(digits(p, q)):
        pairs = zip(whole(p), whole(q))
        return sum((max(mpf(0), x - exp(mpf(epsilon)) * y) for x, y in pairs), mpf(0))


def text(case):
    name = "above-threshold" if case[4] is None else "sparse-vector"
    spec = "%s:noise=%s,threshold=%r,threshold_sigma=%r,sigma=%r" % (name, case[0], case[1], case[2], case[3])
    return spec if case[4] is None else spec + ",cutoff=%d" % case[4]


def entry(case):
    compared = Compared()
    p, q = (distribution(case, answers, compared) for answers in case[5:7])
    divergences = [{"order": a, "forward": table.decimal(renyi(p, q, a)), "reverse": table.decimal(renyi(q, p, a))}
                   for a in ORDERS]
    sticks = [{"epsilon": e, "forward": table.decimal(hockey_stick(p, q, e)),
               "reverse": table.decimal(hockey_stick(q, p, e))} for e in EPSILONS]
    print(text(case), mp.nstr(compared.worst, 3), flush=True)
    return {"mechanism": text(case), "answers": case[5], "neighbor": case[6],
            "expected": {"p": [table.decimal(x) for x in p], "q": [table.decimal(x) for x in q],
                         "ln_p": [table.decimal(log(x)) for x in p], "ln_q": [table.decimal(log(x)) for x in q],
                         "divergences": divergences, "hockey_stick": sticks},
            "verify": {"rel_diff_second_method": float("%.3g" % compared.worst)}}


def compare_with(path):
    """The values of another table, of 20 digits or more."""
    for row in json.load(open(path)):
        if row["mechanism"] != "above-threshold":
            continue
        case = ("laplace", row["threshold"], row["threshold_scale"], row["answer_scale"], None)
        compared = Compared()
        p, q = (distribution(case, row[key], compared) for key in ("answers", "neighbor"))
        pairs = [(x, o["p"]) for x, o in zip(p, row["outcomes"])] + [(y, o["q"]) for y, o in zip(q, row["outcomes"])]
        pairs += [(renyi(p, q, d["order"]), d["forward"]) for d in row["divergences"]]
        pairs += [(renyi(q, p, d["order"]), d["reverse"]) for d in row["divergences"]]
        worst = max(abs(found - mpf(value)) / found for found, value in pairs)
        print("%d values of %s: %s" % (len(pairs), path, mp.nstr(worst, 3)))


def main():
    mp.dps = DIGITS
    NODES.extend(legendre(30))
    for path in sys.argv[1:]:
        compare_with(path)
    table.write("above_threshold.json", [entry(case) for case in CASES])


if __name__ == "__main__":
    main()
