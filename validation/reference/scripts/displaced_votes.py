"""displaced_votes.json: distribution of the noisy argmax over a random histogram in which points displaced votes.

    python validation/reference/scripts/displaced_votes.py

    distribution            H ~ Mult(k, P)
    displaced_distribution  H + B 1{y'} - Mult(B, P^k), B ~ Bin(m, nu)

P and P^k are the doubles of the entry divided by their exact sum, nu is a double. A displaced y' is replaced by itself,
so the change of the histogram is one of few vectors s: P(argmax(H + s + Z) = c) is a polynomial route as in
random_votes.py with f_i(n + s_i), for every s apart, and the mixture over s is taken at the end. (The library has one
polynomial for all s, or a series.)  The integral over x is the trapezoid rule on two grids.

Small entries are compared with a sum over all histograms, p_c(h + s) from noisy_argmax.py; large ones with the coarser
grid, whose error is about the square root of that of the finer one.
"""
from flint import arb, arb_poly, ctx

import noisy_argmax as na
import random_votes as rv
import table

PRECISION = 320

SMALL = [  # k, P, P^k, m, nu, y', sigma
    (10, [0.1492, 0.5883, 0.2625], [0.5036, 0.1086, 0.3878], 1, 0.2, 2, 4),
    (20, [0.97, 0.02, 0.01], [0.97, 0.02, 0.01], 1, 1, 2, 10),
    (20, [0.3, 0.3, 0.4], [0.3, 0.3, 0.4], 3, 0.5, 0, 1),
    (12, [1, 0, 0], [1, 0, 0], 2, 1, 1, 0.5),
    (15, [0.5, 0.5, 0], [0, 0.25, 0.75], 1, 0.75, 2, 20),
]
LARGE = [
    (250, rv.SPREAD, rv.TEN, 1, 0.2, 6, 40), (250, rv.CONCENTRATED, rv.CONCENTRATED, 1, 1, 1, 40),
    (250, rv.CONCENTRATED, rv.CONCENTRATED, 1, 0.2, 6, 20), (200, rv.SPREAD, rv.TEN, 1, 0.5, 7, 4),
]


def changes(q, points, inclusion, label):
    """{s: probability} of B 1{y'} - Mult(B, q)."""
    one = {(0,) * len(q): 1 - arb(inclusion)}
    for displaced, x in enumerate(q):
        change = [0] * len(q)
        change[label] += 1
        change[displaced] -= 1
        one[tuple(change)] = one.get(tuple(change), arb(0)) + arb(inclusion) * x
    total = {(0,) * len(q): arb(1)}
    for _ in range(points):
        more = {}
        for s, weight in total.items():
            for t, x in one.items():
                if not x == 0:
                    both = tuple(a + b for a, b in zip(s, t))
                    more[both] = more.get(both, arb(0)) + weight * x
        total = more
    return total


def by_enumeration(k, p, change, sigma):
    displaced = {}
    votes = rv.multinomial(k, p)
    for h, weight in votes.items():
        for s, x in change.items():
            g = tuple(a + b for a, b in zip(h, s))
            displaced[g] = displaced.get(g, arb(0)) + weight * x
    return [rv.enumerate_distribution(v, sigma, "gaussian", False) for v in (votes, displaced)]


def node(x, k, p, change, points, sigma):
    """The integrands of both distributions at noisy winning count x, one value per class."""
    classes, scale = range(len(p)), arb(sigma)
    z = {n: (x - n) / scale for n in range(-points, k + points + 1)}
    wins = {n: (-y ** 2 / 2).exp() / (scale * (2 * arb.pi()).sqrt()) for n, y in z.items()}
    below = {n: na.ndtr(y) for n, y in z.items()}
    weights = []
    for i in classes:
        w = [arb(1)]
        for n in range(k):
            w.append(w[-1] * p[i] / (n + 1))
        weights.append(w)

    def cut(polynomial):
        return arb_poly(polynomial.coeffs()[:k + 1])

    def factor(values, i, shift):
        return arb_poly([w * values[n + shift] for n, w in enumerate(weights[i])])

    plain, displaced, known = None, [arb(0)] * len(p), {}
    for s, probability in {(0,) * len(p): arb(0), **change}.items():
        for i, shift in enumerate(s):
            if (i, shift) not in known:
                known[i, shift] = factor(below, i, shift), factor(wins, i, shift)
        prefix, suffix = [arb_poly([1])], [arb_poly([1])]
        for i in classes[:-1]:
            prefix.append(cut(prefix[-1] * known[i, s[i]][0]))
        for i in classes[:0:-1]:
            suffix.append(cut(known[i, s[i]][0] * suffix[-1]))
        row = [rv.coefficient(cut(prefix[c] * suffix[len(p) - 1 - c]), known[c, s[c]][1], k) * arb.fac_ui(k)
               for c in classes]
        if plain is None:
            plain = row
        displaced = [a + probability * b for a, b in zip(displaced, row)]
    return plain + displaced


def by_polynomials(k, p, change, points, sigma, fine):
    """(distribution, displaced_distribution, relative difference of the two grids)."""
    # What is beyond 24 standard deviations of the least or the most votes that matter is below 1e-120.
    step = arb(sigma) / (2 * fine)
    first, last = int((-points / sigma - 24) * 2 * fine), int(((k + points) / sigma + 24) * 2 * fine)
    coarse, all_nodes = [arb(0)] * (2 * len(p)), [arb(0)] * (2 * len(p))
    for j in range(first, last + 1):
        row = [v * step for v in node((j * step).mid(), k, p, change, points, sigma)]
        all_nodes = [a + b for a, b in zip(all_nodes, row)]
        if j % 2 == 0:
            coarse = [a + 2 * b for a, b in zip(coarse, row)]
    worst = max(table.relative_difference(a, b) for a, b in zip(all_nodes, coarse))
    return all_nodes[:len(p)], all_nodes[len(p):], worst


def entry(k, p, q, points, inclusion, label, sigma, small):
    ctx.prec = PRECISION
    change = changes(rv.normalized(q), points, inclusion, label)
    plain, displaced, worst = by_polynomials(k, rv.normalized(p), change, points, sigma, 4)
    lacking = max(abs(float((sum(v, arb(0)) - 1).mid().str(3, radius=False))) for v in (plain, displaced))
    assert lacking < 1e-40 and worst < 1e-20, (lacking, worst)
    verify = {"method": "polynomial", "second": "the coarser grid", "rel_diff_second_method": worst, "abs_sum_minus_1": lacking}
    if small:
        again = by_enumeration(k, rv.normalized(p), change, sigma)
        worst = max(table.relative_difference(a, b) for a, b in zip(plain + displaced, again[0] + again[1]))
        assert worst < 1e-36, worst
        verify.update(second="enumeration", rel_diff_second_method=worst)
    fields = {"k": k, "probabilities": p, "displaced": q, "points": points, "inclusion": inclusion, "label": label, "sigma": sigma}
    for name, values in (("distribution", plain), ("displaced_distribution", displaced)):
        fields[name] = [table.decimal(v) for v in values]
        fields["log_" + name] = [table.decimal(v) for v in na.logs(values)]
    fields["verify"] = verify
    print(k, len(p), sigma, verify, flush=True)
    return fields


def main():
    table.write("displaced_votes.json", [entry(*case, True) for case in SMALL] + [entry(*case, False) for case in LARGE])


if __name__ == "__main__":
    main()
