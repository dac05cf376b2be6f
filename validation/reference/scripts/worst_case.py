"""worst_case.json: the worst case of GNMax over all votes, in nats.

    python validation/reference/scripts/worst_case.py

T(u, v) is the distribution of (u + Z1 and v + Z2 both negative, first larger, second larger), Z independent standard normal:

    p_neither = Phi(-u) Phi(-v),   p_first = int_0^inf phi(x-u) Phi(x-v) dx,   p_second alike.

`supremum` = max over u, v of D_a(T(u, v) || T(u - 1/sigma, v + 1/sigma)) by Newton's method on the gradient (mpmath,
40 digits; two minutes a case), from the best of a coarse grid; `two_classes` = the maximum over s of
D_a(Bern(Phi(s)) || Bern(Phi(s - sqrt(2)/sigma))), its limit u, v -> inf; `one_class` the same with 1/sigma.
A maximum found in this way is attained, hence a lower bound of the supremum, and the supremum if no other hill is
higher; where the plane has no interior maximum above the limit, `supremum` is null.

Second method: p_first by Owen's T function, and the divergence at the point found from those distributions (`verify`).
"""
import mpmath
from mpmath import mp, mpf

import table

DIGITS = 40
CASES = [
    (mpf("1.01"), 40), (mpf("1.5"), 1), (mpf("1.5"), 40), (mpf(2), 2), (mpf(2), 10), (mpf(2), 40), (mpf(2), 100000),
    (mpf(8), 4), (mpf(8), 40), (mpf(16), 10),
]


def phi(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def cdf(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def first(u, v):
    peak = max(mpf(0), u, (u + v) / 2)
    return mp.quad(lambda x: phi(x - u) * cdf(x - v), [0, peak / 2, peak, peak + 2, peak + 6, peak + 16])


def owen(h, a):
    return mp.quad(lambda x: mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x), mp.linspace(0, a, 5)) / (2 * mp.pi)


def first_owen(u, v):
    """P(X < u, Y < s) at correlation 1/sqrt 2 by Owen (1956), s = (u - v)/sqrt 2."""
    s, r = (u - v) / mp.sqrt(2), 1 / mp.sqrt(2)
    root = mp.sqrt(1 - r * r)
    value = (cdf(u) + cdf(s)) / 2 - owen(u, (s - r * u) / (u * root)) - owen(s, (u - r * s) / (s * root))
    return value - (mpf(1) / 2 if u * s < 0 or (u * s == 0 and u + s < 0) else 0)


def distribution(u, v, p_first=first):
    return [cdf(-u) * cdf(-v), p_first(u, v), p_first(v, u)]


def divergence(p, q, a):
    return mp.log(mp.fsum(x**a * y ** (1 - a) for x, y in zip(p, q))) / (a - 1)


def on_plane(u, v, a, h, p_first=first):
    return divergence(distribution(u, v, p_first), distribution(u - h, v + h, p_first), a)


def on_line(s, a, shift):
    return divergence([cdf(s), cdf(-s)], [cdf(s - shift), cdf(shift - s)], a)


def line_maximum(a, shift):
    grid = [-(a - 1) * shift - 2 + mpf(i) / 20 for i in range(int(20 * ((a - 1) * shift + 4)))]
    start = max(grid, key=lambda s: on_line(s, a, shift))
    s = mp.findroot(lambda s: mp.diff(lambda x: on_line(x, a, shift), s), start)
    return on_line(s, a, shift)


def plane_maximum(a, h):
    mp.dps = 15
    reach = (a - 1) * h
    points = [(t / 5 + s / 5, t / 5 - s / 5) for t in range(0, 16) for s in range(-int(5 * reach) - 3, 3)]
    start = max(points, key=lambda point: on_plane(*point, a, h))
    mp.dps = DIGITS
    scale = a * h * h
    step = mpf(10) ** -8

    def slope(u, v):
        return [
            (on_plane(u + step, v, a, h) - on_plane(u - step, v, a, h)) / (2 * step) / scale,
            (on_plane(u, v + step, a, h) - on_plane(u, v - step, a, h)) / (2 * step) / scale,
        ]

    u, v = mp.findroot(slope, start, tol=mpf(10) ** -20, maxsteps=12)
    return u, v


def main():
    mp.dps = DIGITS
    entries = []
    for a, sigma in CASES:
        a, h = mpf(float(a)), 1 / mpf(sigma)
        two, one = line_maximum(a, mp.sqrt(2) * h), line_maximum(a, h)
        expected = {"two_classes": mp.nstr(two, 20), "one_class": mp.nstr(one, 20)}
        verify = {}
        try:
            u, v = plane_maximum(a, h)
            value = on_plane(u, v, a, h)
        except (ValueError, ZeroDivisionError):
            value = mpf(0)
        mp.dps = DIGITS
        if value > two:
            again = on_plane(u, v, a, h, first_owen)
            verify["rel_diff_second_method"] = float(mp.nstr(abs(again / value - 1), 3))
            # A maximum is flat: the gradient is 0 to 1e-16, so the value is right to 1e-16 squared.
            expected |= {"supremum": mp.nstr(value, 20), "first": mp.nstr(u, 12), "second": mp.nstr(v, 12)}
        else:
            expected |= {"supremum": None, "first": None, "second": None}
        entries.append({"inputs": {"order": float(a), "sigma": sigma}, "expected": expected, "verify": verify})
        print(entries[-1], flush=True)
    table.write("worst_case.json", entries)


if __name__ == "__main__":
    main()
