"""rounding.json: published formulas at extreme orders, scales, rates and deltas, to see on which side of them a bound is.

    python validation/reference/scripts/rounding.py

Every entry names a formula of the library, its inputs and the value in real arithmetic (mpmath, 120 digits and more), at
the doubles that are given, to 30 digits. `random.seed` is fixed; inputs are a fixed list of extremes, sampled where all of them would
be too many. Every value is computed again with 60 more digits, integrals by another step, to 35 digits.
"""
import random

import mpmath
from mpmath import mp, mpf

import table

DIGITS = 120
ORDERS = [1 + 2.0**-52, 1 + 1e-12, 1 + 1e-8, 1.0001, 1.01, 1.5, 2.0, 3.7, 16.0, 64.0, 1e3, 1e4, 1e6]
SCALES = [1e-3, 0.02, 0.3, 1.0, 3.7, 40.0, 1e3, 1e6]
DELTAS = [1e-300, 1e-100, 1e-20, 1e-12, 1e-5, 0.01, 0.3, 0.5, 0.9, 1 - 1e-3, 1 - 1e-12]


def gaussian(order, sigma, s):
    return mpf(order) * mpf(s) ** 2 / (2 * mpf(sigma) ** 2)


def gnmax(order, sigma):
    return mpf(order) / mpf(sigma) ** 2


def laplace(order, b, s=1):
    a, t = mpf(order), mpf(s) / mpf(b)
    return mp.log(a / (2 * a - 1) * mp.exp((a - 1) * t) + (a - 1) / (2 * a - 1) * mp.exp(-a * t)) / (a - 1)


def gnmax_cost(order, sigma, ln_q):
    a, s, ln_q = mpf(order), mpf(sigma), mpf(ln_q)
    plain = a / s**2
    q, mu2 = mp.exp(ln_q), s * mp.sqrt(-ln_q)
    mu1 = mu2 + 1
    e1, e2 = mu1 / s**2, mu2 / s**2
    if not (mu1 >= a and mu2 > 1):
        return plain
    if not ln_q <= (mu2 - 1) * e2 - mu2 * mp.log(mu1 / (mu1 - 1) * mu2 / (mu2 - 1)):
        return plain
    ratio = (ln_q + e2) * (mu2 - 1) / mu2
    if not ratio < 0:
        return plain
    u, v = mp.log1p(-q), mp.log1p(-mp.exp(ratio))
    second = ln_q + (a - 1) * (e1 - ln_q / mu2)
    return min(plain, mp.log1p(mp.expm1(u + (a - 1) * (u - v)) + mp.exp(second)) / (a - 1))


def lnmax_cost(order, b, ln_q):
    q, e, l = mp.exp(mpf(ln_q)), 2 / mpf(b), mpf(order) - 1
    plain = 2 * laplace(order, b)
    if q > 1 / (mp.exp(e) + 1):
        return plain
    u, v = mp.log1p(-q), mp.log1p(-mp.exp(e + mpf(ln_q)))
    return min(plain, mp.log1p(mp.expm1(u + l * (u - v)) + mp.exp(mpf(ln_q) + e * l)) / l)


def ndtr(z):
    return mp.erfc(-z / mp.sqrt(2)) / 2


def ln_flip(histogram, scale, noise):
    rest = sorted(histogram, reverse=True)
    gaps = [mpf(rest[0] - n) / mpf(scale) for n in rest[1:]]
    one = (lambda g: mp.erfc(g / 2) / 2) if noise == "gaussian" else (lambda g: (2 + g) / 4 * mp.exp(-g))
    return mp.log(min(mp.fsum(one(g) for g in gaps), 1 - mpf(1) / len(histogram)))


def confident(order, threshold, sigma1, sigma2, histogram, form):
    z = [(mpf(threshold) - n) / mpf(sigma1) for n in histogram]
    fail = ndtr(min(z)) if form == "max" else mp.fprod(ndtr(x) for x in z)
    ln_q = mp.log(min(fail, 1 - fail))
    first = min(gnmax_cost(order, mpf(sigma1) * mp.sqrt(2), ln_q), gnmax(order, sigma1) / 2)
    return first + gnmax_cost(order, sigma2, ln_flip(histogram, sigma2, "gaussian"))


def gnss(order, beta, sigma):
    a, b = mpf(order), mpf(beta)
    u = -mp.expm1(-2 * b)
    if a * u >= 1:
        return mpf("inf")
    return a * mp.exp(-2 * b) / (2 * mpf(sigma) ** 2 * (1 - a * u)) - (mp.log1p(-a * u) / 2 + a * b) / (a - 1)


def response(order, epsilon, k):
    a, e = mpf(order), mpf(epsilon)
    return mp.log1p(-mp.expm1(-(a - 1) * e) * mp.expm1(a * e) / (mp.exp(e) + k - 1)) / (a - 1)


def exponential(order, epsilon):
    a, e = mpf(order), mpf(epsilon)
    x = (a - 1) * -mp.expm1(-a * e) / (a * (mp.exp(-e) - mp.exp(-a * e)))
    q = (1 / x - mp.exp(-e)) / -mp.expm1(-e)
    # Both ratios, e^t and e^{t-e}.
    return mp.log(q * x**a + (1 - q) * (x * mp.exp(-e)) ** a) / (a - 1)


def binomial_sum(order, rate, shift):
    """ln E (1 - q + q e^{zv - v²/2})^a / (a-1) for a whole order."""
    a, q = int(order), mpf(rate)
    term = lambda j: mp.binomial(a, j) * (1 - q) ** (a - j) * q**j * mp.expm1(mpf(j * (j - 1)) / 2 * shift**2)
    return mp.log1p(mp.fsum(term(j) for j in range(2, a + 1))) / (a - 1)


def integral(order, rate, shift, step):
    a, q = mpf(order), mpf(rate)
    low, high = mpf(-16), max(a, 2) * shift + 16
    nodes = int((high - low) / step) + 1

    def term(i):
        t = low + i * step
        u = q * mp.expm1(t * shift - shift**2 / 2)
        l = mp.log1p(u)
        return (mp.exp(l) * mp.expm1((a - 1) * l) - (a - 1) * u) * mp.exp(-t * t / 2)

    return mp.log1p(mp.fsum(term(i) for i in range(nodes)) * step / mp.sqrt(2 * mp.pi)) / (a - 1)


def integral_digits(q, shift):
    return 70 + int(-2 * mp.log10(mpf(q) * min(shift, 1)))


def subsampled(order, rate, sigma, s):
    """By the binomial theorem for whole orders, else by the trapezoid rule."""
    shift = mpf(s) / mpf(sigma)
    if order == int(order) and order <= 64:
        return binomial_sum(order, rate, shift)
    # The square of q, and of a small shift, is what the difference leaves.
    with mp.workdps(integral_digits(rate, shift)):
        step = min(mpf(1) / 8, mpf(1) / 6 / shift)
        return integral(order, rate, shift, step)


def subsampled_group(order, rate, sigma, s, points):
    a, q = mpf(order), mpf(rate)
    together = -mp.expm1(points * mp.log1p(-q))
    total = mpf(0)
    for b in range(1, points + 1):
        weight = mp.binomial(points, b) * q**b * (1 - q) ** (points - b) / together
        total += weight * mp.expm1((a - 1) * binomial_sum(order, together, b * mpf(s) / mpf(sigma)))
    return mp.log1p(total) / (a - 1)


def epsilon(order, rdp, delta):
    a = mpf(order)
    return max(mpf(0), mpf(rdp) + mp.log((a - 1) / a) - (mp.log(mpf(delta)) + mp.log(a)) / (a - 1))


def classic_epsilon(order, rdp, delta):
    return mpf(rdp) - mp.log(mpf(delta)) / (mpf(order) - 1)


def delta_of(order, rdp, epsilon):
    a = mpf(order)
    return min(mpf(1), mp.exp((a - 1) * (mpf(rdp) - mpf(epsilon))) * (1 - 1 / a) ** (a - 1) / a)


def gdp_delta(mu, epsilon):
    mu, e = mpf(mu), mpf(epsilon)
    return ndtr(mu / 2 - e / mu) - mp.exp(e) * ndtr(-mu / 2 - e / mu)


def bisect(low, high, above):
    """The point where `above` turns true, in logarithms, to 50 digits."""
    low, high = mp.log(mpf(low)), mp.log(mpf(high))
    for _ in range(190):
        middle = (low + high) / 2
        low, high = (low, middle) if above(mp.exp(middle)) else (middle, high)
    return mp.exp((low + high) / 2)


def gaussian_sigma(epsilon, delta):
    with mp.workdps(400 if delta < 1e-50 else 100):
        mu = bisect("1e-305", "1e6", lambda mu: gdp_delta(mu, epsilon) > mpf(delta))
        return 1 / mu


def lower_limit(k, n, f):
    """x with P(Bin(n, x) >= k) = f, as (x, 1-x)."""
    f = mpf(f)
    if k == 0:
        return mpf(0), mpf(1)
    if k == n:
        x = mp.exp(mp.log(f) / n)
        return x, 1 - x
    if k == 1:
        y = mp.log1p(-f) / n
        return -mp.expm1(y), mp.exp(y)
    with mp.workdps(700):
        few = min(k, n - k + 1)
        if few == k:
            tail = lambda x: 1 - mp.fsum(mp.binomial(n, j) * x**j * (1 - x) ** (n - j) for j in range(k))
        else:
            tail = lambda x: mp.fsum(mp.binomial(n, j) * x**j * (1 - x) ** (n - j) for j in range(k, n + 1))
        x = bisect("1e-320", 1, lambda x: tail(x) > f)
        return x, 1 - x


def upper_limit(k, n, f):
    y, x = lower_limit(n - k, n, f)
    return x, y


def bernoulli(p, q, order):
    a = mpf(order)
    (p, p_other), (q, q_other) = p, q
    power = lambda p, q: mp.exp(a * mp.log(p) + (1 - a) * mp.log(q)) if p > 0 else mpf(0)
    return mp.log(power(p, q) + power(p_other, q_other)) / (a - 1)


def rectangle(k, n, l, m, f):
    tail = mpf(f) / 2
    return lower_limit(k, n, tail), upper_limit(l, m, tail)


def votes_cap(k, p, marked, order):
    """Both directions of D of Mult(k, P) and of one of k voters with P', two classes."""
    a, p, marked = mpf(order), mpf(p), mpf(marked)
    weights = [mp.binomial(k, h) * p**h * (1 - p) ** (k - h) for h in range(k + 1)]
    ratio = [(h * marked / p + (k - h) * (1 - marked) / (1 - p)) / k for h in range(k + 1)]
    moment = lambda power: mp.log(mp.fsum(w * r**power for w, r in zip(weights, ratio))) / (a - 1)
    return moment(1 - a), moment(a)


def main():
    mp.dps = DIGITS
    rng = random.Random(20261122)
    entries, worst, counts = [], 0.0, {}

    def add(formula, function, **inputs):
        nonlocal worst
        value = function()
        with mp.workdps(DIGITS + 60):
            again = function()
        difference = 0.0 if value == again else float(abs(value - again) / max(abs(value), abs(again)))
        assert difference < 1e-35, (formula, inputs, difference)
        worst = max(worst, difference)
        counts[formula] = counts.get(formula, 0) + 1
        expected = "inf" if mp.isinf(value) else "0" if value == 0 else mpmath.nstr(value, 30, min_fixed=-2, max_fixed=2)
        entries.append({"formula": formula, "inputs": inputs, "expected": expected})

    def some(*lists, number):
        product = [()]
        for values in lists:
            product = [(*row, value) for row in product for value in values]
        return product if len(product) <= number else rng.sample(product, number)

    for a, sigma, s in some(ORDERS, SCALES + [1e-200, 1e200], [1.0, 0.1, 1.4142135623730951, 7.0, 1e-180], number=30):
        add("gaussian", lambda: gaussian(a, sigma, s), order=a, scale=sigma, sensitivity=s)
    for a, sigma in some(ORDERS, SCALES + [1e-200, 1e200], number=30):
        add("gnmax", lambda: gnmax(a, sigma), order=a, scale=sigma)
        add("threshold", lambda: gnmax(a, sigma) / 2, order=a, scale=sigma)
    for a, b, s in some(ORDERS, SCALES + [1e-150, 1e150], [1.0, 0.1, 3.0, 1e-6], number=120):
        if b == 1e150 or b == 1e-150:
            with mp.workdps(700):
                value = laplace(a, b, s)
            add("laplace", lambda: value, order=a, scale=b, sensitivity=s)
        else:
            add("laplace", lambda: laplace(a, b, s), order=a, scale=b, sensitivity=s)
    for a, sigma, ln_q in some(ORDERS, SCALES, [-0.7, -2.0, -6.5, -20.0, -100.0, -690.0, -5000.0], number=100):
        add("gnmax-data-dependent", lambda: gnmax_cost(a, sigma, ln_q), order=a, scale=sigma, log_q=ln_q)
        add("lnmax-data-dependent", lambda: lnmax_cost(a, sigma, ln_q), order=a, scale=sigma, log_q=ln_q)
    # Just below the q where e^e q approaches its largest.
    for a, b in some(ORDERS, [0.1, 0.2, 0.5, 2.0, 30.0], number=30):
        ln_q = float(-mp.log1p(mp.exp(2 / mpf(b))) * (1 + mpf(10) ** -13))
        add("lnmax-data-dependent", lambda: lnmax_cost(a, b, ln_q), order=a, scale=b, log_q=ln_q)
    histograms = [[250] + [0] * 9, [100, 99, 51], [25] * 10, [12, 0], [5000, 0, 0], [7, 3, 3, 1], [1, 1]]
    for histogram, scale in some(histograms, [0.02, 0.7, 5.0, 40.0, 1e3, 1e6], number=42):
        for noise in ["gaussian", "laplace"]:
            add(f"ln-q-{noise}", lambda: ln_flip(histogram, scale, noise), histogram=histogram, scale=scale)
    tests = [(6.0, 3.0, 1.5), (150.0, 30.0, 40.0), (2.5, 0.25, 4.0), (200.0, 1e3, 1e3)]
    for a, (t, s1, s2), histogram, form in some(ORDERS, tests, histograms[1:], ["max", "per-class"], number=40):
        add("confident-gnmax", lambda: confident(a, t, s1, s2, histogram, form), order=a, threshold=t, sigma1=s1,
            sigma2=s2, histogram=histogram, form=form)
    for a, beta, sigma in some(ORDERS, [1e-100, 1e-12, 1e-8, 1e-4, 0.01, 0.1, 0.3], [1e-3, 0.5, 40.0, 1e6], number=70):
        if 2 * a * beta < 1.3:
            add("gnss", lambda: gnss(a, beta, sigma), order=a, beta=beta, scale=sigma)
    for a in [1.5, 3.0, 50.0]:
        for share in [1e-6, 1e-12]:
            beta = float(-mp.log1p(-(1 - mpf(share)) / mpf(a)) / 2)
            add("gnss", lambda: gnss(a, beta, 5.0), order=a, beta=beta, scale=5.0)
    for a, points, sigma in some(ORDERS, [1, 2, 3, 7, 2**40], [1e-3, 3.7, 40.0], number=30):
        c = (points - 1).bit_length()
        at = max(mpf(a), 2) * 2**c if points > 1 else mpf(a)
        add("group", lambda: 3**c * at / mpf(sigma) ** 2, order=a, points=points, scale=sigma)
    for a, p in some(ORDERS, [1e-300, 1e-12, 0.1, 0.25, 0.3, 0.5 + 2.0**-40, 0.5001, 0.75, 1 - 1e-12], number=80):
        rare = min(mpf(p), 1 - mpf(p))
        add("randomized-response", lambda: response(a, mp.log((1 - rare) / rare), 2), order=a, truth=p)
    for a, e, k in some(ORDERS, [1e-300, 1e-12, 1e-5, 0.1, 1.0, 8.0, 30.0, 701.0, 1e4], [2, 3, 10, 10**6], number=70):
        add("k-ary-response", lambda: response(a, e, k), order=a, epsilon=e, answers=k)
    for a, e in some(ORDERS[1:], [1.1e-5, 1e-4, 1e-3, 0.03, 1.0, 4.0, 20.0, 100.0, 600.0, 2000.0], number=70):
        with mp.workdps(200):
            value = exponential(a, e)
        add("exponential", lambda: value, order=a, epsilon=e)
    for e in [1e-300, 1e-5, 0.1, 0.3, 0.7, 3.0, 1e5]:
        add("alibi-scale", lambda: 2 / mpf(e), epsilon=e)
    rates = [1e-100, 1e-20, 1e-6, 0.01, 0.2, 0.7, 1 - 1e-12]
    for a, q, sigma in some([2.0, 3.0, 16.0, 64.0], rates, [0.02, 0.1, 0.2, 1.0, 30.0, 1e3, 1e6], number=70):
        add("subsampled-gaussian", lambda: subsampled(a, q, sigma, 1.0), order=a, rate=q, scale=sigma)
    # Orders near 1 with rates so small that the square of the excess decides.
    for a, q, sigma in some([1 + 1e-8, 1.0001, 1.01, 1.5], rates, [0.05, 0.1, 0.2, 1.0, 30.0, 1e3], number=40):
        value, shift = subsampled(a, q, sigma, 1.0), 1 / mpf(sigma)
        with mp.workdps(integral_digits(q, shift)):
            half = integral(a, q, shift, min(mpf(1) / 8, mpf(1) / 6 / shift) * mpf("0.7"))
        assert abs(half / value - 1) < mpf(10) ** -35, (a, q, sigma, half / value - 1)
        add("subsampled-gaussian", lambda: value, order=a, rate=q, scale=sigma)
    for a, q, sigma, points in some([2.0, 3.0, 16.0], [1e-6, 0.01, 0.5], [0.7, 5.0, 1e3], [1, 2, 5, 20], number=30):
        add("subsampled-group", lambda: subsampled_group(a, q, sigma, 1.0, points), order=a, rate=q, scale=sigma,
            points=points)
    for a, rdp, delta in some(ORDERS, [0.0, 1e-12, 1e-3, 0.7, 30.0, 1e3], DELTAS, number=80):
        add("epsilon", lambda: epsilon(a, rdp, delta), order=a, rdp=rdp, delta=delta)
        add("classic-epsilon", lambda: classic_epsilon(a, rdp, delta), order=a, rdp=rdp, delta=delta)
    for a, rdp, e in some(ORDERS, [0.0, 1e-12, 1e-3, 0.7, 30.0], [0.0, 1e-6, 0.5, 1.0, 7.0, 700.0], number=80):
        add("delta", lambda: delta_of(a, rdp, e), order=a, rdp=rdp, epsilon=e)
    for values, times in [([0.1, 0.7, 1e-9], 3), ([1e-300, 0.3], 7), ([0.1], 1000), ([0.3, 1e17], 13), ([2.5], 10**6)]:
        total = mp.fsum(mpf(v) for v in values) * times
        add("composed", lambda: total, values=values, times=times)
    for e, delta in some([0.0, 1e-6, 0.1, 1.0, 10.0, 300.0], DELTAS, number=40):
        add("gaussian-sigma", lambda: gaussian_sigma(e, delta), epsilon=e, delta=delta)
    for mu, e in some([1e-6, 1e-2, 0.5, 3.0, 30.0], [0.0, 1e-6, 0.5, 4.0, 30.0], number=25):
        with mp.workdps(600):
            value = gdp_delta(mu, e)
        if value > mpf(10) ** -300:
            add("gdp-delta", lambda: value, mu=mu, epsilon=e)
    for k, p, marked in [(1, 0.25, 0.75), (5, 0.5, 0.5 + 2.0**-30), (12, 0.25, 0.25 + 2.0**-20), (40, 0.75, 0.5)]:
        for a in [2.0, 3.0, 16.0, 60.0]:
            forward, reverse = votes_cap(k, p, marked, a)
            add("shared-teachers", lambda: forward, order=a, voters=k, p=p, marked=marked, direction="forward")
            add("shared-teachers", lambda: reverse, order=a, voters=k, p=p, marked=marked, direction="reverse")

    levels = [1e-300, 1e-100, 1e-12, 1e-5, 0.05, 0.5, 0.9, 1 - 1e-12]
    counts_of = [(1, 1), (2, 2), (1, 2), (2, 3), (3, 3), (2, 10), (9, 10), (5, 40), (38, 40), (1, 10**12), (3, 10**6),
                 (10**6 - 2, 10**6), (10**12, 10**12)]
    for (k, n), f in some(counts_of, levels, number=80):
        # The complement is what an upper limit of the failures is.
        x, y = lower_limit(k, n, f)
        add("clopper-pearson-lower", lambda: x, successes=k, trials=n, failure=f)
        add("clopper-pearson-upper", lambda: y, successes=n - k, trials=n, failure=f)
    for (k, n), f in some([(50, 100), (99, 100), (3 * 10**11, 10**12), (7, 9)], levels, number=24):
        width = mp.sqrt(mp.log(2 / mpf(f)) / (2 * n))
        add("dkw-lower", lambda: max(mpf(0), mpf(k) / n - width), successes=k, trials=n, failure=f)
    pairs = [(9, 10, 1, 10), (1, 1, 0, 1), (3, 10**6, 0, 10**6), (40, 40, 1, 40), (12, 12, 8, 12), (2, 2, 0, 1000)]
    for (k, n, l, m), f in some(pairs, [1e-100, 1e-12, 0.05, 0.5, 0.9], number=30):
        (p, q) = rectangle(k, n, l, m, f)
        if p[0] <= q[0]:
            continue
        inputs = dict(successes=k, trials=n, successes_neighbor=l, trials_neighbor=m, failure=f)
        for a in rng.sample(ORDERS, 4):
            add("corner", lambda: bernoulli(p, q, a), order=a, direction="forward", **inputs)
            add("corner", lambda: bernoulli(q, p, a), order=a, direction="reverse", **inputs)
        for delta in rng.sample(DELTAS, 3):
            # The likelier side forward, and its complement.
            best = max(mp.log((p[0] - delta) / q[0]) if p[0] > delta else mpf(0), mpf(0))
            add("set-epsilon", lambda: best, delta=delta, **inputs)
        for e in [0.0, 0.5, 7.0]:
            best = max(p[0] - mp.exp(mpf(e)) * q[0], mpf(0))
            add("set-delta", lambda: best, epsilon=e, **inputs)
    table.write("rounding.json", entries, limit=300_000)
    print("worst", worst, counts)


if __name__ == "__main__":
    main()
