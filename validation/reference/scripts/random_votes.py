"""random_votes_more.json: distribution of the noisy argmax over a random histogram.

    python validation/reference/scripts/random_votes.py [--only-small]

    distribution         H ~ Mult(k, P)
    marked_distribution  H ~ Mult(k-1, P) + Mult(1, P')

P and P' are the doubles of the entry divided by their exact sum.  Two routes:

enumeration  sum over all histograms h of multinomial(h) p_c(h), p_c(h) from
             noisy_argmax.py once per sorted h (Gaussian and Laplace);
polynomial   (Gaussian) Mult(k, P) is Poisson(k P_i) given the total, so
             E prod f_i(H_i) = k! [z^k] prod_i sum_n (P_i z)^n f_i(n) / n!,
             with f_i(n) = Phi((x-n)/sigma), and the density for the winner,
             integrated over x by the trapezoid rule; every coefficient is
             non-negative, so nothing cancels.  The marked vote is carried as the
             second component of a dual number, P'_i f_i(n+1) against P_i f_i(n).

Small entries come from the enumeration and are compared with the polynomial
route; large ones come from the polynomial route on two grids.
"""
import sys
from itertools import combinations

from flint import arb, arb_poly, ctx

import noisy_argmax as na
import table

PRECISION = 320

SMALL = [  # noise, k, P, P', sigma
    ("gaussian", 1, [0.5, 0.5], [0.1, 0.9], 1), ("gaussian", 1, [0.1056, 0.7212, 0.1732], [0.9451, 0.0467, 0.0082], 0.3),
    ("gaussian", 10, [0.5, 0.5], [1, 0], 4), ("gaussian", 60, [0.5, 0.5], [0, 1], 40),
    ("gaussian", 60, [0.97, 0.03], [0.03, 0.97], 10), ("gaussian", 60, [1, 0], [0, 1], 3),
    ("gaussian", 60, [0.999, 0.001], [0.001, 0.999], 0.3), ("gaussian", 30, [0.5898, 0.4102], [0.0632, 0.9368], 5),
    ("gaussian", 25, [0.97, 0.03], [0.5, 0.5], 0.3), ("gaussian", 50, [1, 0], [0.9, 0.1], 2),
    ("gaussian", 40, [1e-6, 0.999999], [0.5, 0.5], 1), ("gaussian", 20, [0, 1], [0, 1], 0.5),
    ("gaussian", 10, [0.1492, 0.5883, 0.2625], [0.5036, 0.1086, 0.3878], 4),
    ("gaussian", 20, [1, 0, 0], [0, 1, 0], 1), ("gaussian", 20, [1, 0, 0], [0, 0.5, 0.5], 40),
    ("gaussian", 20, [0.97, 0.02, 0.01], [0.01, 0.02, 0.97], 0.3), ("gaussian", 20, [0.97, 0.02, 0.01], [0.01, 0.02, 0.97], 10),
    ("gaussian", 18, [0.5, 0.5, 0], [0, 0, 1], 0.3), ("gaussian", 18, [0.5, 0.5, 0], [0, 0, 1], 2),
    ("gaussian", 15, [0.3, 0.3, 0.4], [1, 0, 0], 0.7), ("gaussian", 12, [0.998, 0.001, 0.001], [0.001, 0.998, 0.001], 20),
    ("gaussian", 10, [0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01], 0.3),
    ("gaussian", 10, [0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01], 1),
    ("gaussian", 10, [0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01], 40),
    ("gaussian", 10, [1, 0, 0, 0], [0, 0, 0, 1], 0.3), ("gaussian", 10, [0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0], 2),
    ("gaussian", 9, [0.4, 0.4, 0.2, 0], [0, 0.1, 0, 0.9], 0.5), ("gaussian", 8, [0.7, 0.3, 0, 0], [0, 0, 0.5, 0.5], 5),
    ("laplace", 20, [0.5, 0.5], [0, 1], 5), ("laplace", 40, [1, 0], [0, 1], 0.3), ("laplace", 12, [0.97, 0.02, 0.01], [0.01, 0.02, 0.97], 1),
    ("laplace", 10, [0.4, 0.4, 0.2], [0, 0, 1], 20), ("laplace", 8, [0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01], 0.5),
    ("laplace", 6, [0.5, 0.5, 0, 0], [0, 0, 1, 0], 2),
]
SPREAD = [0.1277, 0.3058, 0.0887, 0.035, 0.0613, 0.09, 0.1068, 0.0138, 0.0225, 0.1484]
CONCENTRATED = [0.9, 0.05, 0.02, 0.01, 0.01, 0.005, 0.005, 0, 0, 0]
TEN = [0.0849, 0.0477, 0.1433, 0.007, 0.0399, 0.027, 0.5463, 0.0053, 0.0281, 0.0705]
LETTERS = [0.5, 0.2, 0.1, 0.05] + [0.01] * 15 + [0] * 7
LARGE = [
    (250, SPREAD, TEN, 40), (250, CONCENTRATED, TEN, 40), (250, CONCENTRATED, TEN, 5),
    (250, SPREAD, TEN, 1), (100, LETTERS, [0] * 25 + [1], 20), (100, LETTERS, [0] * 25 + [1], 5),
]


def normalized(weights):
    weights = [arb(w) for w in weights]
    total = sum(weights, arb(0))
    return [w / total for w in weights]


def histograms(k, classes):
    for bars in combinations(range(k + classes - 1), classes - 1):
        edges = (-1,) + bars + (k + classes - 1,)
        yield tuple(b - a - 1 for a, b in zip(edges, edges[1:]))


def multinomial(k, p):
    """{h: probability} of Mult(k, p), zero classes left out."""
    distribution = {}
    for h in histograms(k, len(p)):
        if any(n and x == 0 for n, x in zip(h, p)):
            continue
        weight = arb.fac_ui(k)
        for n, x in zip(h, p):
            weight = weight * x ** n / arb.fac_ui(n)
        distribution[h] = weight
    return distribution


def enumerate_distribution(votes, sigma, noise, second):
    total = None
    for h, weight in votes.items():
        p = [weight * x for x in na.distribution(list(h), sigma, noise, second)]
        total = p if total is None else [a + b for a, b in zip(total, p)]
    return total


def by_enumeration(k, p, q, sigma, noise, second=False):
    marked = {}
    for h, weight in multinomial(k - 1, p).items():
        for y, x in enumerate(q):
            if x > 0:
                g = h[:y] + (h[y] + 1,) + h[y + 1:]
                marked[g] = marked.get(g, arb(0)) + weight * x
    return [enumerate_distribution(votes, sigma, noise, second) for votes in (multinomial(k, p), marked)]


def product(a, b, k):
    """Product of dual numbers of polynomials modulo z^(k+1)."""
    def cut(x):
        return arb_poly(x.coeffs()[:k + 1])
    return cut(a[0] * b[0]), cut(a[0] * b[1] + a[1] * b[0])


def coefficient(a, b, n):
    """[z^n] of a b."""
    a, b = a.coeffs(), b.coeffs()
    return sum((a[j] * b[n - j] for j in range(max(0, n - len(b) + 1), min(n, len(a) - 1) + 1)), arb(0))


def node(x, k, p, q, sigma):
    """Integrands of (distribution, marked_distribution) at noisy winning count x, one value per class."""
    s = arb(sigma)
    wins = [(-((x - n) / s) ** 2 / 2).exp() / (s * (2 * arb.pi()).sqrt()) for n in range(k + 2)]
    below = [na.ndtr((x - n) / s) for n in range(k + 2)]

    def factor(values, i):
        weights, w = [], arb(1)
        for n in range(k + 1):
            weights.append(w)
            w = w * p[i] / (n + 1)
            if w == 0:
                break
        return (arb_poly([w * f for w, f in zip(weights, values)]),
                arb_poly([q[i] * w * f for w, f in zip(weights, values[1:])]))

    loses = [factor(below, i) for i in range(len(p))]
    prefix, suffix = [(arb_poly([1]), arb_poly([]))], [(arb_poly([1]), arb_poly([]))]
    for f in loses[:-1]:
        prefix.append(product(prefix[-1], f, k))
    for f in loses[:0:-1]:
        suffix.append(product(f, suffix[-1], k))
    out = []
    for c in range(len(p)):
        rest = product(prefix[c], suffix[len(p) - 1 - c], k)
        own = factor(wins, c)
        out.append((coefficient(rest[0], own[0], k) * arb.fac_ui(k),
                    (coefficient(rest[0], own[1], k - 1) + coefficient(rest[1], own[0], k - 1)) * arb.fac_ui(k - 1)))
    return out


def by_polynomials(k, p, q, sigma, fine, goal=1e-28):
    """(distribution, marked_distribution, relative difference of the last two grids).

    Trapezoid over x with step sigma / fine, refined by halves.  The sum starts in the
    bulk and walks outwards until every class has fallen below 1e-16 goal of its sum.
    """
    step, offset, width = arb(sigma) / fine, arb(0), None
    sums = None
    for _ in range(6):
        part = _walk(k, p, q, sigma, step, offset, goal * 1e-16, sums)
        if sums is None:
            sums, value = part, [v * step for v in part]
            offset = step / 2
            continue
        sums = [a + b for a, b in zip(sums, part)]
        previous, step = value, step / 2
        value = [v * step for v in sums]
        worst = max(table.relative_difference(a, b) for a, b in zip(value, previous) if not a == 0)
        if worst < goal:
            n = len(p)
            return value[:n], value[n:], worst
        offset = step / 2
    raise ArithmeticError(f"trapezoid rule did not settle: {worst}")


def _walk(k, p, q, sigma, step, offset, floor, known):
    start = arb(int(float(arb(k) / step))) * step
    total = None
    for direction in (1, -1):
        x, quiet, j = start + (offset if direction == 1 else offset - step), 0, 0
        while quiet < 6:
            row = node((x + direction * j * step).mid(), k, p, q, sigma)
            row = [a for a, _ in row] + [b for _, b in row]
            total = row if total is None else [a + b for a, b in zip(total, row)]
            reference = total if known is None else known
            # a class whose probability is zero by the marks alone never blocks the stop
            small = all(abs(r.mid()) <= t.mid() * arb(floor) for r, t in zip(row, reference))
            passed = direction == 1 or float(x - j * step) < float(arb(k) / len(p)) - float(arb(sigma))
            quiet = quiet + 1 if small and passed else 0
            j += 1
    return total


def entry(noise, k, p, q, sigma, distribution, marked, verify):
    names = {"distribution": distribution, "marked_distribution": marked}
    fields = {"noise": noise, "k": k, "probabilities": p, "sigma": sigma, "marked": q}
    for name, values in names.items():
        fields[name] = [table.decimal(v) for v in values]
        fields["log_" + name] = [table.decimal(v) for v in na.logs(values)]
    fields["verify"] = verify
    return fields


def small_entries():
    for noise, k, p, q, sigma in SMALL:
        ctx.prec = na.PRECISION
        P, Q = normalized(p), normalized(q)
        distribution, marked = by_enumeration(k, P, Q, sigma, noise)
        verify = {"method": "enumeration", "second": None, "rel_diff_second_method": None,
                  "abs_sum_minus_1": max(abs(float((sum(v, arb(0)) - 1).mid().str(3, radius=False))) for v in (distribution, marked))}
        assert verify["abs_sum_minus_1"] < 1e-40
        if noise == "gaussian":
            again, marked_again, _ = by_polynomials(k, P, Q, sigma, 4)
            verify["second"] = "polynomial"
        else:
            again, marked_again = by_enumeration(k, P, Q, sigma, noise, second=True)
            verify["second"] = "enumeration with the exact piecewise integral"
        verify["rel_diff_second_method"] = max(table.relative_difference(a, b) for a, b in zip(distribution + marked, again + marked_again))
        assert verify["rel_diff_second_method"] < 1e-36, (k, p, q, sigma, verify)
        yield entry(noise, k, p, q, sigma, distribution, marked, verify)
        print("small", noise, k, len(p), sigma, verify, flush=True)


def large_entries():
    for k, p, q, sigma in LARGE:
        ctx.prec = PRECISION
        P, Q = normalized(p), normalized(q)
        distribution, marked, worst = by_polynomials(k, P, Q, sigma, 3)
        verify = {"method": "polynomial", "second": "polynomial on the coarser grid", "rel_diff_second_method": worst,
                  "abs_sum_minus_1": max(abs(float((sum(v, arb(0)) - 1).mid().str(3, radius=False))) for v in (distribution, marked))}
        print("large", k, len(p), sigma, verify, flush=True)
        yield entry("gaussian", k, p, q, sigma, distribution, marked, verify)


def main():
    entries = list(small_entries())
    if "--only-small" not in sys.argv:
        entries += list(large_entries())
    table.write("random_votes_more.json", entries)


if __name__ == "__main__":
    main()
