"""berk_jones.json: lower limits of a survival function at every point at once.

    python validation/reference/scripts/berk_jones.py

For n samples and failure probability f, the level a at which P(some U_(k) < b_k(a)) = f, where U_(k) is the k-th smallest
of n uniform variables and b_k(a) the Clopper-Pearson lower limit of k of n at level a; `limits` are the b_k there, `least`
those at the level that spends 0.975 f. The probability is computed forwards, from the distribution of the number of U below each
boundary, by binomial steps; the second method is Steck's determinant (1971), of the complementary event.

mpmath with 40 digits; the level by the secant method.
"""
import mpmath
from mpmath import mp, mpf

import table


def limit(k, n, a):
    if k == n:
        return a ** (mpf(1) / n)
    low, high = mpf(0), mpf(k) / n
    guess = high
    for _ in range(200):  # Newton inside a bracket
        value = mp.betainc(k, n - k + 1, 0, guess, regularized=True) - a
        if value > 0:
            high = guess
        else:
            low = guess
        density = guess ** (k - 1) * (1 - guess) ** (n - k) / mp.beta(k, n - k + 1)
        step = guess - value / density if density > 0 else low
        new = step if low < step < high else (low + high) / 2
        if abs(new - guess) <= mpf(10) ** -38 * guess:
            return new
        guess = new
    raise ArithmeticError((k, n, a))


def forwards(b, n):
    """1 - P(N(b_k) < k for all k)."""
    distribution, before = {0: mpf(1)}, mpf(0)
    for k in range(1, n + 1):
        s = (b[k - 1] - before) / (1 - before)
        new = {}
        for m, p in distribution.items():
            left = n - m
            for more in range(0, k - m):
                new[m + more] = new.get(m + more, mpf(0)) + p * mp.binomial(left, more) * s**more * (1 - s) ** (left - more)
        distribution, before = new, b[k - 1]
    return 1 - mp.fsum(distribution.values())


def steck(b, n):
    """1 - n! det[(1 - b_i)_+^(j-i+1) / (j-i+1)!]: the mirrored variables 1 - U stay below 1 - b."""
    top = [1 - x for x in reversed(b)]  # upper boundaries of the increasing order statistics of 1 - U
    # P(V_(i) <= top_i) by Steck: n! det[ top_i^(j-i+1)/(j-i+1)! ], zero below the first subdiagonal; by recursion.
    minors = [mpf(1)]
    for size in range(1, n + 1):
        # Expansion along the last column of a Hessenberg matrix with ones below the diagonal.
        total, sign = mpf(0), 1
        for i in range(size, 0, -1):
            power = size - i + 1
            total += sign * minors[i - 1] * top[i - 1] ** power / mp.factorial(power)
            sign = -sign
        minors.append(total)
    return 1 - mp.factorial(n) * minors[n]


def level(n, f):
    def miss(log_a):
        a = mp.exp(log_a)
        return mp.log(forwards([limit(k, n, a) for k in range(1, n + 1)], n) / f)

    start = mp.log(f / (1 + mpf("1.4") * mp.log(n) * mp.log1p(mp.log(n))))
    return mp.exp(mp.findroot(miss, (start, start - mpf("0.1")), solver="secant", tol=mpf(10) ** -60))


def main():
    mp.dps = 40
    entries = []
    for n in (1, 2, 5, 20, 50):
        for f in (0.05, 0.5, 1e-6):
            a = level(n, mpf(f)) if n > 1 else mpf(f)
            b = [limit(k, n, a) for k in range(1, n + 1)]
            one = forwards(b, n)
            mp.dps = 120  # the determinant alternates
            other = steck(b, n)
            mp.dps = 40
            least_level = level(n, mpf("0.975") * mpf(f)) if n > 1 else mpf("0.975") * mpf(f)
            least = [limit(k, n, least_level) for k in range(1, n + 1)]
            entries.append(
                {
                    "inputs": {"samples": n, "failure": f},
                    "expected": {
                        "limits": [table.decimal(x) for x in b],
                        "least": [table.decimal(x) for x in least],
                    },
                    "verify": f"Steck's determinant: {mp.nstr(abs(other / one - 1), 2)}; spent: {mp.nstr(abs(one / mpf(f) - 1), 2)}",
                }
            )
            print(n, f, entries[-1]["verify"], mp.nstr(a, 8))
    table.write("berk_jones.json", entries)


if __name__ == "__main__":
    main()
