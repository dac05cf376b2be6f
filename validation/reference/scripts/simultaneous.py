"""simultaneous_more.json: simultaneous intervals of multinomial proportions.

    python validation/reference/scripts/simultaneous.py

`goodman` (Goodman 1965): the roots p of n (p - x/n)^2 = B p (1-p), B the upper failure/C quantile of chi-square with
one degree of freedom; the closed form is checked by putting it back, the quantile by the incomplete gamma function.

`edgeworth` and `exact` (Sison and Glaz 1995): nu(c) = P(|X_i - x_i| <= c for all i), X ~ Mult(n, x/n), either with
Edgeworth's expansion of the distribution of a sum of truncated Poisson variables, in the published factorial moments (which
lose every digit of a double for large counts, hence 120 digits), or exactly by convolution of them.  c is the last
with nu(c) <= 1 - failure, gamma = (1 - failure - nu(c))/(nu(c+1) - nu(c)), nu(0) = 0; the ends are max(0, (x-c)/n) and
min(1, (x + c + 2 gamma)/n).  Second method: 40 more digits; for `exact`, multinomial probabilities summed over all
histograms of the window where these are few.  `statsmodels_abs_diff`, where given, is the largest difference to
multinomial_proportions_confint, which counts c up from 1 in double precision.
"""
import itertools
import warnings

from mpmath import binomial, erfinv, exp, gammainc, loggamma, log, mp, mpf, pi, sqrt

import table

CASES = [
    ([14, 12, 10, 8, 6], 0.05), ([30, 20, 10], 0.05), ([100, 1, 1], 0.05), ([400, 300, 200, 100], 0.025), ([3] * 30, 0.05),
    ([250] + [0] * 9, 0.05), ([1], 0.05), ([1, 0], 0.05), ([0, 1, 0], 0.5), ([10**12, 0, 0], 0.05), ([10**12 - 7, 3, 4], 0.01),
    ([600, 500], 1e-3), ([50_000, 30_000, 15_000, 5_000], 0.05), ([9 * 10**6, 10**6 - 100, 100], 0.025),
    ([5 * 10**8, 3 * 10**8, 2 * 10**8], 0.05), ([12345, 2345, 345, 45, 5, 0], 1e-4), ([40, 30, 20, 10], 0.9), ([1000] * 20, 0.05),
]
MOST_TERMS = 600  # of a window for the exact probability


def quantile(failure, classes):
    """Upper failure/classes quantile of chi-square(1)."""
    tail = mpf(failure) / classes
    z = sqrt(2) * erfinv(1 - tail)
    again = gammainc(mpf(1) / 2, z * z / 2) / sqrt(pi)
    assert abs(again / tail - 1) < mpf(10) ** -60, (failure, classes)
    return z * z


def goodman(counts, failure):
    n, b = sum(counts), quantile(failure, len(counts))
    lower, upper = [], []
    for x in counts:
        d = sqrt(b * (b + 4 * mpf(x) * (n - x) / n))
        low, high = (b + 2 * x - d) / (2 * (n + b)), (b + 2 * x + d) / (2 * (n + b))
        for p in (low, high):
            assert abs(n * (p - mpf(x) / n) ** 2 - b * p * (1 - p)) < mpf(10) ** -80 * (1 + b)
        lower.append(low if x else mpf(0))
        upper.append(high if x < n else mpf(1))
    return lower, upper


def poisson(k, rate):
    return exp(k * log(rate) - rate - loggamma(k + 1)) if k >= 0 else mpf(0)


def window(x, c):
    """P(Poi(x) = k) for k from max(0, x-c) to x+c; all of it beyond 60 standard deviations is left out."""
    reach = min(c, int(40 * x ** 0.5) + 400)
    k = max(0, x - reach)
    weight, weights = poisson(k, mpf(x)), []
    while k <= x + reach:
        weights.append(weight)
        k += 1
        weight = weight * x / k
    return max(0, x - reach), weights


def edgeworth(counts, c):
    n = sum(counts)
    mass, means, variances, third, fourth = mpf(1), mpf(0), mpf(0), mpf(0), mpf(0)
    for x in counts:
        if x == 0:
            continue
        rate, low, high = mpf(x), max(0, x - c), x + c
        part = sum(window(x, c)[1])
        factorial = []
        for r in range(1, 5):
            # F(high) - F(high - r) and F(low - 1) - F(low - r - 1)
            top = sum(poisson(k, rate) for k in range(max(0, high - r + 1), high + 1))
            bottom = sum(poisson(k, rate) for k in range(max(0, low - r), low))
            factorial.append(rate ** r * (1 - (top - bottom) / part))
        f1, f2, f3, f4 = factorial
        m2, m3, m4 = f2 + f1, f3 + 3 * f2 + f1, f4 + 6 * f3 + 7 * f2 + f1
        variance = m2 - f1 ** 2
        mass *= part
        means += f1
        variances += variance
        third += m3 - 3 * f1 * m2 + 2 * f1 ** 3
        fourth += m4 - 4 * f1 * m3 + 6 * f1 ** 2 * m2 - 3 * f1 ** 4 - 3 * variance ** 2
    z, g1, g2 = (n - means) / sqrt(variances), third / variances ** mpf(1.5), fourth / variances ** 2
    series = 1 + g1 * (z ** 3 - 3 * z) / 6 + g2 * (z ** 4 - 6 * z ** 2 + 3) / 24 + g1 ** 2 * (
        z ** 6 - 15 * z ** 4 + 45 * z ** 2 - 15) / 72
    return mass * series * exp(-z * z / 2) / sqrt(2 * pi * variances) / poisson(n, mpf(n))


def exact(counts, c):
    n, start, total = sum(counts), 0, [mpf(1)]
    for x in counts:
        if x == 0:
            continue
        low, weights = window(x, c)
        start += low
        result = [mpf(0)] * (len(total) + len(weights) - 1)
        for i, a in enumerate(total):
            for j, b in enumerate(weights):
                result[i + j] += a * b
        total = result
    return total[n - start] / poisson(n, mpf(n))


def enumerated(counts, c):
    """nu(c) as a sum over histograms, or None for more than 20000 of them."""
    used = [x for x in counts if x]
    n = sum(used)
    if (2 * c + 1) ** (len(used) - 1) > 20000:
        return None
    total = mpf(0)
    for head in itertools.product(*[range(max(0, x - c), min(n, x + c) + 1) for x in used[:-1]]):
        last = n - sum(head)
        if abs(last - used[-1]) <= c and last >= 0:
            rest, term = n, mpf(1)
            for k, x in zip((*head, last), used):
                term *= binomial(rest, k) * (mpf(x) / n) ** k
                rest -= k
            total += term
    return total


def crossing(nu, n, failure, start):
    """The last c with nu(c) <= 1 - failure, and nu there and one further."""
    goal, known = 1 - mpf(failure), {0: mpf(0), n: mpf(1)}

    def at(c):
        if c not in known:
            known[c] = nu(c)
        return known[c]

    low, high = 0, n
    step = max(1, start // 8)
    guess = start
    while high - low > 1:
        guess = min(max(guess, low + 1), high - 1)
        if at(guess) > goal:
            high = guess
        else:
            low = guess
        if low == 0 and high < n and high > step:
            guess = high - step
        elif high == n:
            guess = low + step
        else:
            guess = (low + high) // 2
        step *= 2
    return low, at(low), at(high)


def sison_glaz(counts, failure, nu):
    n = sum(counts)
    z = sqrt(2) * erfinv(1 - mpf(failure) / len(counts))
    start = max(1, int(z * max(sqrt(mpf(x) * (n - x) / n) for x in counts)))
    c, here, there = crossing(lambda c: nu(counts, c), n, failure, start)
    gamma = (1 - mpf(failure) - here) / (there - here)
    lower = [max(mpf(0), mpf(x - c) / n) for x in counts]
    upper = [min(mpf(1), (x + c + 2 * gamma) / n) for x in counts]
    return lower, upper, c, gamma


def statsmodels_difference(counts, failure, method, lower, upper):
    try:
        from statsmodels.stats.proportion import multinomial_proportions_confint
    except ImportError:
        return None
    if method == "exact" or sum(counts) > 20000 or min(counts) == 0 and method != "goodman":
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = multinomial_proportions_confint(counts, failure, "goodman" if method == "goodman" else "sison-glaz")
        except Exception:  # it does not find a c for every input
            return None
    return max(max(abs(float(a) - x), abs(float(b) - y)) for a, b, (x, y) in zip(lower, upper, found))


def intervals(counts, failure, method):
    """lower, upper, and c and gamma of Sison and Glaz."""
    if method == "goodman":
        return (*goodman(counts, failure), None, None)
    return sison_glaz(counts, failure, edgeworth if method == "edgeworth" else exact)


def affordable(counts, method):
    return method != "exact" or sum(min(x, 12 * int(x ** 0.5) + 20) for x in counts) <= MOST_TERMS


def entry(counts, failure, method):
    results = []
    for digits in (120, 160):
        with mp.workdps(digits):
            results.append(intervals(counts, failure, method))
    (lower, upper, c, gamma), again = results
    assert c == again[2]
    with mp.workdps(120):
        pairs = list(zip(lower + upper, again[0] + again[1]))
        verify = {"rel_diff_second_method": float(max(abs(a - b) / abs(b) if b else abs(a) for a, b in pairs))}
        assert verify["rel_diff_second_method"] < 1e-45, (counts, failure, method, verify)
        expected = {"lower": [table.decimal(x) for x in lower], "upper": [table.decimal(x) for x in upper]}
        if c is not None:
            expected |= {"c": c, "gamma": table.decimal(gamma)}
        if method == "exact" and c > 0 and (full := enumerated(counts, c)) is not None:
            verify["enumeration"] = float(abs(exact(counts, c) / full - 1))
            assert verify["enumeration"] < 1e-100, (counts, c)
    peer = statsmodels_difference(counts, failure, method, lower, upper)
    if peer is not None:
        verify["statsmodels_abs_diff"] = peer
    return {"kind": method, "inputs": {"counts": counts, "failure": failure}, "expected": expected, "verify": verify}


def main():
    entries = [entry(counts, failure, method) for method in ("goodman", "edgeworth", "exact") for counts, failure in CASES
               if affordable(counts, method)]
    table.write("simultaneous_more.json", entries)
    for name in ("rel_diff_second_method", "enumeration", "statsmodels_abs_diff"):
        values = [e["verify"][name] for e in entries if name in e["verify"]]
        print(name, max(values, default=None), "of", len(values))
    for e in entries:
        if e["verify"].get("statsmodels_abs_diff", 0) > 1e-9:
            print("differs from statsmodels:", e["kind"], e["inputs"], e["verify"]["statsmodels_abs_diff"])


if __name__ == "__main__":
    main()
