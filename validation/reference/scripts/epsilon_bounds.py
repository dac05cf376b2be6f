"""epsilon_bounds.json: lower bounds of epsilon, mu and delta from counts.

    python validation/reference/scripts/epsilon_bounds.py

x1 of n1 outputs fell in the set O under the dataset, x2 of n2 under the neighbor; P(O) >= Q(O) was declared (two
tails), the direction is forward: epsilon of p <= e^epsilon q + delta with p = P(O), q = Q(O). g is the failure
probability.

    jeffreys        ln((a - delta)/b), a the g/2 quantile of Beta(x1+1/2, n1-x1+1/2) (0 for x1 = 0), b the 1-g/2
                    quantile of Beta(x2+1/2, n2-x2+1/2) (1 for x2 = n2)
    jeffreys_four   the larger of that with g/4 and of the same for the complement of O
    katz_log        ln((p^-delta)/q^) - z sqrt(p^(1-p^)/(n1 (p^-delta)^2) + (1-q^)/(n2 q^)); for x2 = 0 with half a
                    success and half a trial added in both worlds
    joint_beta      largest epsilon with P(p <= e^epsilon q + delta) <= g under both Beta posteriors
    joint_region    the same for the four inequalities of both directions and both sides
    mu, gdp         Phi^-1(l) - Phi^-1(u) at the Clopper-Pearson limits of g/2, and epsilon(delta) of that mu
    clopper_pearson ln((l - delta)/u)
    delta_at        l - e^epsilon u at epsilon = `inputs.epsilon`

All are clamped at 0. A bound that is `null` was not computed (joint posterior of more than 10^6 trials).

Second methods: beta quantiles by the continued fraction DLMF 8.17.22 (parameters above 10^5: by quadrature), residual by
the series 8.17.8 where 50,000 terms suffice; the joint posterior by integrating over q, residual at the root by integrating over p.
"""
import multiprocessing
import random

import numpy as np
from mpmath import mp, mpf
from scipy import optimize, special, stats

import table

mp.dps = 62


def fraction(a, b, x):
    """I_x(a, b) for x <= a/(a+b) by Lentz's method."""
    tiny = mpf(10) ** -80
    c, d = mpf(1), 1 - (a + b) * x / (a + 1)
    d = 1 / (d if d else tiny)
    h = d
    m = 0
    while True:
        m += 1
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            h *= c * d
        if abs(c * d - 1) < mpf(10) ** -(mp.dps - 4):
            return density(a, b, x) * h / a


def integral(a, b, x):
    """I_x(a, b) by Gauss-Legendre on panels of the log-odds below x: for large parameters."""
    y = 1 - x

    def fall(v):
        return a * v + (a + b) * mp.log(y + x * mp.exp(-v))
    reach = mp.sqrt(1 / a + 1 / b)
    while fall(reach) < 120:
        reach *= mpf(5) / 4
    ends = [reach * k / 16 for k in range(17)]
    return density(a, b, x) * mp.quad(lambda v: mp.exp(-fall(v)), ends, method="gauss-legendre")


def density(a, b, x):
    """Density of the log-odds."""
    return mp.exp(a * mp.log(x) + b * mp.log1p(-x) - constant(a, b))


CONSTANTS = {}


def constant(a, b):
    if (a, b) not in CONSTANTS:
        with mp.extradps(30):
            CONSTANTS[a, b] = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return CONSTANTS[a, b]


def series(a, b, x):
    """I_x(a, b) by DLMF 8.17.8, all terms positive."""
    term = total = mpf(1)
    k = 0
    while term > total * mpf(10) ** -(mp.dps - 5):
        term *= (a + b + k) * x / (a + 1 + k)
        total += term
        k += 1
        if k > 50_000:
            return None
    return density(a, b, x) / a * total


def cdf(a, b, x, y):
    """P(Beta(a, b) <= x), y = 1 - x; relative accuracy in the smaller tail."""
    if x <= 0:
        return mpf(0)
    if y <= 0:
        return mpf(1)
    tail = fraction if a + b < 10 ** 5 else integral
    if x * (a + b) <= a:
        return tail(a, b, x)
    return 1 - tail(b, a, y)


WORST = {"quantile": 0.0, "joint": 0.0}
QUANTILES = {}


def quantile(a, b, f):
    """x with I_x(a, b) = f for f < 1/2, Newton in the log-odds; residual by the series."""
    if (a, b, f) in QUANTILES:
        return QUANTILES[a, b, f]
    x = mpf(stats.beta.ppf(float(f), float(a), float(b)))
    t = mp.log(x / (1 - x))
    for _ in range(60):
        x = 1 / (1 + mp.exp(-t))
        tail = cdf(a, b, x, 1 / (1 + mp.exp(t)))
        step = mp.log(f / tail) * tail / density(a, b, x)
        t += step
        if abs(step) < mpf(10) ** -40:
            break
    else:
        raise ArithmeticError((a, b, f))
    x = 1 / (1 + mp.exp(-t))
    if a + b < 10 ** 7:
        other = series(a, b, x)
        if other is not None:
            residual = float(abs(other / f - 1))
            assert residual < 1e-36, (a, b, f, residual)
            WORST["quantile"] = max(WORST["quantile"], residual)
    QUANTILES[a, b, f] = x
    return x


def low(x, n, f):
    return quantile(mpf(x) + 0.5, mpf(n - x) + 0.5, f) if x else mpf(0)


def exact_low(x, n, f):
    """Clopper-Pearson."""
    return quantile(mpf(x), mpf(n - x) + 1, f) if x else mpf(0)


def log_ratio(p, q, delta):
    return mp.log((p - delta) / q) if p > delta else mpf(0)


def katz(x1, n1, x2, n2, delta, g):
    added = mpf(0) if x2 else mpf(1) / 2
    p, q = (x1 + added) / (n1 + added), (x2 + added) / (n2 + added)
    if not x1 or p <= delta:
        return mpf(0)
    variance = p * (n1 - x1) / (n1 + added) / (n1 + added) / (p - delta) ** 2 + (1 - q) / q / (n2 + added)
    z = -mp.sqrt(2) * mp.erfinv(2 * g - 1)
    return mp.log((p - delta) / q) - z * mp.sqrt(variance)



class Joint:
    """The joint posterior."""

    def __init__(self, x1, n1, x2, n2, delta, region):
        half = mpf(1) / 2
        self.p, self.q = (x1 + half, n1 - x1 + half), (x2 + half, n2 - x2 + half)
        self.delta, self.region = mpf(delta), region

    def over(self, distribution, share, breaks, g):
        """Integral of the density of `distribution` times `share`."""
        a, b = distribution
        ends = []
        for (c, d), sign in (((a, b), 1), ((b, a), -1)):
            x = mpf(stats.beta.ppf(float(g) * 1e-18 if g > 1e-200 else 1e-300, float(c), float(d)))
            ends.append(sign * mp.log(x / (1 - x)))
        centre = mp.log(a / b)
        spread = mp.sqrt(1 / a + 1 / b)
        inner = [centre + k * spread for k in (-6, -3, 0, 3, 6)]
        inner += [mp.log(x / (1 - x)) for x in breaks if 0 < x < 1]
        points = sorted([t for t in inner if ends[0] < t < ends[1]] + ends)

        def f(t):
            x, y = 1 / (1 + mp.exp(-t)), 1 / (1 + mp.exp(t))
            s = share(x, y)
            return density(a, b, x) * s if s > 0 else mpf(0)
        return mp.quad(f, points, maxdegree=6)

    def private(self, e, g, other=False):
        grown, shrunk, d = mp.exp(e), mp.exp(-e), self.delta
        (a, b), (c, k) = self.p, self.q
        pm, qm = a / (a + b), c / (c + k)
        if not other:
            def share(x, y):
                high = grown * x + d
                if not self.region:
                    return cdf(a, b, high, 1 - high)
                high = min(high, 1 - (y - d) * shrunk)
                lower = max(1 - d - grown * y, (x - d) * shrunk)
                return cdf(a, b, high, 1 - high) - cdf(a, b, lower, 1 - lower)
            breaks = [(1 - d) * shrunk, (pm - d) * shrunk]
            if self.region:
                breaks += [d, 1 - d, 1 - (1 - d) * shrunk, 1 - (1 - d - pm) * shrunk, pm * grown + d, 1 - d - (1 - pm) * grown,
                           (1 - d) / (1 + grown), 1 - (1 - d) / (1 + grown)]
            return self.over(self.q, share, breaks, g)

        def share(x, y):
            lower = (x - d) * shrunk
            if not self.region:
                return 1 - cdf(c, k, lower, 1 - lower)
            # q <= e^e p + d, q <= 1 - (1-p-d) e^-e, q >= (p-d) e^-e, q >= 1 - d - e^e (1-p)
            lower = max(lower, 1 - d - grown * y)
            high = min(grown * x + d, 1 - (y - d) * shrunk)
            return cdf(c, k, high, 1 - high) - cdf(c, k, lower, 1 - lower)
        breaks = [d, qm * grown + d]
        if self.region:
            breaks += [(1 - d) * shrunk, 1 - (1 - d) * shrunk, 1 - d, (qm - d) * shrunk, 1 - (1 - d - qm) * shrunk,
                       1 - d - (1 - qm) * grown, (1 - d) / (1 + grown), 1 - (1 - d) / (1 + grown)]
        return self.over(self.p, share, breaks, g)

    def estimate(self, e):
        """ln P(private at e) in double precision, by the trapezoid rule."""
        c, k = (float(v) for v in self.q)
        t = np.log(c / k) + np.linspace(-40, 40, 40001) * np.sqrt(1 / c + 1 / k)
        x, y = special.expit(t), special.expit(-t)
        weight = np.exp(c * np.log(x) + k * np.log(y) - special.betaln(c, k)) * (t[1] - t[0])
        grown, d = np.exp(e), float(self.delta)
        high = grown * x + d
        lower = np.zeros_like(x)
        if self.region:
            high = np.minimum(high, 1 - (y - d) / grown)
            lower = np.maximum(np.maximum(1 - d - grown * y, (x - d) / grown), 0)
        a, b = (float(v) for v in self.p)
        share = special.betainc(a, b, np.clip(high, 0, 1)) - special.betainc(a, b, np.clip(lower, 0, 1))
        total = np.sum(weight * share)
        return np.log(total) if total > 1e-13 else -30.0

    def limit(self, g):
        with mp.workdps(22):
            if self.estimate(0.0) >= np.log(float(g)):
                return mpf(0)
            start = optimize.brentq(lambda e: self.estimate(e) - np.log(float(g)), 0.0, 60.0, xtol=1e-13)
            score = lambda e: mp.log(self.private(e, g)) - mp.log(g)
            before, root = mpf(start) * (1 - mpf(10) ** -6), mpf(start)
            at, value = score(before), score(root)
            for _ in range(8):
                before, root, at = root, root - value * (root - before) / (value - at), value
                value = score(root)
                if abs(value) < mpf(10) ** -16:
                    break
            else:
                raise ArithmeticError(value)
            residual = float(abs(self.private(root, g, other=True) / g - 1))
            assert residual < 1e-11, (self.p, self.q, residual)
            WORST["joint"] = max(WORST["joint"], residual)
            return root


def gdp_delta(mu, e):
    return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)


def gdp_epsilon(mu, delta):
    if mu <= 0 or gdp_delta(mu, mpf(0)) <= delta:
        return mpf(0)
    if delta == 0:
        return mp.inf
    e = mu * mu / 2
    lo, hi = mpf(0), e + 1
    while gdp_delta(mu, hi) > delta:
        lo, hi = hi, 2 * hi
    for _ in range(220):
        e = (lo + hi) / 2
        lo, hi = (e, hi) if gdp_delta(mu, e) > delta else (lo, e)
    return lo


def normal_quantile(p):
    """Phi^-1 for p < 1/2 by Newton on ln Phi."""
    z = mpf(stats.norm.ppf(float(p))) if p > 1e-300 else -mp.sqrt(-2 * mp.log(p))
    for _ in range(60):
        step = mp.log(mp.ncdf(z) / p) * mp.ncdf(z) / mp.npdf(z)
        z -= step
        if abs(step) < mpf(10) ** -42:
            return z
    raise ArithmeticError(p)


def quantile_of(p, other):
    return normal_quantile(p) if p < other else -normal_quantile(other)


def clamp(x):
    return x if x > 0 else mpf(0)


def show(x):
    return "inf" if x == mp.inf else table.decimal(clamp(x))


def entry(x1, n1, x2, n2, delta, g, epsilon, joint):
    d, f = mpf(delta), mpf(g)
    half, quarter = f / 2, f / 4
    jeffreys = log_ratio(low(x1, n1, half), 1 - low(n2 - x2, n2, half), d)
    four = max(clamp(log_ratio(low(x1, n1, quarter), 1 - low(n2 - x2, n2, quarter), d)),
               clamp(log_ratio(low(n1 - x1, n1, quarter), 1 - low(x2, n2, quarter), d)))
    l, u_other = exact_low(x1, n1, half), exact_low(n2 - x2, n2, half)
    u = 1 - u_other
    mu = mpf(0) if l <= u else quantile_of(l, 1 - l) - quantile_of(u, u_other)
    values = {
        "jeffreys": show(jeffreys), "jeffreys_four": show(four), "katz_log": show(katz(x1, n1, x2, n2, d, f)),
        "clopper_pearson": show(log_ratio(l, u, d)), "mu": show(mu), "gdp": show(gdp_epsilon(mu, d)),
        "delta_at": show(l - mp.exp(mpf(epsilon)) * u),
        "joint_beta": None, "joint_region": None,
    }
    if joint:
        # 15 digits are right.
        digits = lambda x: mp.nstr(x, 18, min_fixed=-2, max_fixed=2) if x > 0 else "0"
        values["joint_beta"] = digits(Joint(x1, n1, x2, n2, delta, False).limit(f))
        values["joint_region"] = digits(Joint(x1, n1, x2, n2, delta, True).limit(f))
    worst = dict(WORST)
    WORST.update(quantile=0.0, joint=0.0)
    print(x1, n1, x2, n2, delta, g, values["jeffreys"][:10], values["joint_beta"] and values["joint_beta"][:10], flush=True)
    return {"inputs": {"x1": x1, "n1": n1, "x2": x2, "n2": n2, "delta": delta, "g": g, "epsilon": epsilon}, "expected": values,
            "verify": {"quantile_residual": worst["quantile"], "joint_residual": worst["joint"]}}


def cases():
    """(x1, n1, x2, n2, delta, g, epsilon, joint)."""
    yield from [
        (90, 100, 5, 100, 1e-5, 0.05, 0.5, True), (90, 100, 5, 100, 1e-5, 0.025, 1.0, True), (1, 1, 0, 1, 0.0, 0.05, 0.0, True),
        (0, 1, 1, 1, 0.0, 0.05, 0.0, False), (10, 10, 0, 10, 0.0, 0.05, 0.0, True), (100, 100, 90, 100, 0.0, 0.3, 0.01, True),
        (100, 100, 0, 100, 0.01, 1e-6, 2.0, True), (550, 1000, 500, 1000, 0.0, 0.05, 0.0, True),
        (500, 1000, 500, 1000, 0.0, 0.05, 0.0, True), (7500, 10000, 2500, 10000, 1e-5, 1e-3, 1.0, True),
        (30, 1000, 3, 1000, 1e-3, 0.05, 0.1, True), (5200, 10000, 5000, 10000, 0.0, 0.5, 0.0, True),
        (100, 100, 10, 10000, 0.0, 0.05, 2.0, True), (40, 50, 600, 1000, 0.05, 0.01, 0.1, True),
        (1, 1, 0, 10**12, 0.0, 0.05, 5.0, False), (507050000000, 10**12, 492950000000, 10**12, 0.0, 1e-9, 0.01, False),
        (100, 10**12, 0, 10**12, 0.0, 0.05, 1.0, False), (10**12, 10**12, 0, 10**12, 0.5, 0.05, 10.0, False),
        (10**12, 10**12, 10**12 - 50, 10**12, 0.0, 0.05, 0.0, False), (50, 10**8, 5, 10**8, 0.0, 1e-12, 0.5, False),
        (0, 10**6, 0, 10**6, 0.0, 0.05, 0.0, False), (10**6, 10**6, 10**6, 10**6, 0.0, 0.05, 0.0, False),
        (2, 3, 1, 10**12, 1e-9, 0.05, 0.1, False), (999999, 10**6, 5, 10, 0.0, 0.05, 0.1, False),
        (20, 20, 0, 20, 0.0, 1e-300, 0.0, False), (1000, 1000, 0, 1000, 0.0, 1e-300, 0.0, False), (5, 10, 1, 10, 0.0, 0.999, 0.1, False),
        (841, 1000, 500, 1000, 0.0, 0.1, 0.2, False), (999, 1000, 1, 1000, 1e-300, 0.05, 1.0, False),
    ]
    rng = random.Random(20250311)
    for _ in range(15):
        n1, n2 = (int(10 ** rng.uniform(0.5, 9)) for _ in range(2))
        x1 = rng.randint(n1 // 2, n1)
        yield x1, n1, rng.randint(0, int(n2 * x1 / n1)), n2, rng.choice([0.0, 1e-5, 0.01]), rng.choice([0.05, 1e-3, 1e-9]), 0.1, False


def main():
    with multiprocessing.Pool(3) as pool:
        entries = pool.starmap(entry, cases(), chunksize=1)
    table.write("epsilon_bounds.json", entries)
    for name in ("quantile_residual", "joint_residual"):
        print("worst", name, max(e["verify"][name] for e in entries))


if __name__ == "__main__":
    main()
