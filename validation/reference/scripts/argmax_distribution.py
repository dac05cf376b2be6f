"""argmax_more.json: output distributions of the noisy argmax over fixed histograms.

    python validation/reference/scripts/argmax_distribution.py

Every distribution is computed twice (see noisy_argmax.py), checked to sum to one and,
for two classes, against the closed forms
    Gaussian  P(0) = Phi(d / (sigma sqrt 2)),
    Laplace   P(0) = 1 - e^(-d/b) (2 + d/b) / 4   for d = n_0 - n_1 >= 0.
"""
from flint import arb, ctx

import noisy_argmax as na
import table

GAUSSIAN = [
    ([7], 1), ([0, 0], 0.3), ([5, 5], 40), ([1, 0], 0.3), ([2, 1], 500), ([251, 249], 40), ([1000, 0], 5),
    ([0, 1000], 10), ([250, 0], 2.5), ([250, 0, 0], 40), ([250, 0, 0], 4), ([4, 4, 4], 0.3), ([5, 5, 4], 0.3),
    ([100, 99, 51], 40), ([90, 80, 80], 7.5), ([30, 0, 0], 0.3), ([1, 2, 3], 500),
    ([250, 0, 0, 0, 0, 0, 0], 25), ([36, 36, 36, 36, 36, 35, 35], 3), ([60, 50, 40, 30, 20, 10, 0], 1.5),
    ([125, 125, 0, 0, 0, 0, 0, 0, 0, 0], 40), ([25] * 10, 40), ([25] * 10, 0.3), ([250] + [0] * 9, 100),
    ([250] + [0] * 9, 10), ([250] + [0] * 9, 2.5), ([241, 1, 1, 1, 1, 1, 1, 1, 1, 1], 20),
    ([128, 64, 32, 16, 8, 2, 0, 0, 0, 0], 40), ([50, 45, 40, 35, 30, 20, 15, 10, 4, 1], 500), ([5] * 50, 2),
    ([250] + [0] * 49, 40), ([201] + [1] * 49, 30), ([2] * 25 + [0] * 25, 0.5), ([1] * 200, 1),
    ([250] + [0] * 199, 40), ([200, 50] + [0] * 198, 500), ([40] + [1] * 199, 3),
]
LAPLACE = [
    ([3], 2), ([0, 0], 1), ([2, 1], 0.3), ([250, 0], 20), ([251, 249], 500), ([1000, 0], 1), ([1000, 0], 0.2),
    ([5, 5, 4], 0.3), ([250, 0, 0], 10), ([100, 99, 51], 25), ([36, 36, 36, 36, 36, 35, 35], 3),
    ([60, 50, 40, 30, 20, 10, 0], 1.5), ([250] + [0] * 9, 20), ([250] + [0] * 9, 2), ([25] * 10, 0.3),
    ([50, 45, 40, 35, 30, 20, 15, 10, 4, 1], 500), ([201] + [1] * 49, 10), ([250] + [0] * 49, 0.5), ([1] * 200, 1),
]


def closed_form(counts, scale, noise):
    d = abs(arb(counts[0]) - counts[1])
    if noise == "gaussian":
        low = na.ndtr(-d / (arb(scale) * arb(2).sqrt()))
    else:
        low = (-d / arb(scale)).exp() * (2 + d / arb(scale)) / 4
    return [1 - low, low] if counts[0] >= counts[1] else [low, 1 - low]


def entry(counts, scale, noise):
    p = na.distribution(counts, scale, noise)
    again = na.distribution(counts, scale, noise, second=True)
    verify = {
        "rel_diff_second_method": max(table.relative_difference(a, b) for a, b in zip(p, again)),
        "abs_sum_minus_1": float((sum(p, arb(0)) - 1).mid().str(3, radius=False)),
        "rel_diff_closed_form": None,
    }
    if len(counts) == 2:
        exact = closed_form(counts, scale, noise)
        verify["rel_diff_closed_form"] = max(table.relative_difference(a, b) for a, b in zip(p, exact))
    assert verify["rel_diff_second_method"] < 1e-45, (counts, scale, noise, verify)
    assert abs(verify["abs_sum_minus_1"]) < 1e-45, (counts, scale, noise, verify)
    assert (verify["rel_diff_closed_form"] or 0) < 1e-45, (counts, scale, noise, verify)
    # Above one half, p is one minus the other classes: the printed digits then agree.
    rest = na.complements(p)
    p = [1 - q if q < 0.5 else x for x, q in zip(p, rest)]
    return {
        "inputs": {"noise": noise, "histogram": counts, "scale": scale},
        "expected": [table.decimal(x) for x in p],
        "complement_expected": [table.decimal(x) for x in rest],
        "log_expected": [table.decimal(x) for x in na.logs(p)],
        "verify": verify,
    }


def main():
    ctx.prec = na.PRECISION
    entries = [entry(h, s, "gaussian") for h, s in GAUSSIAN] + [entry(h, b, "laplace") for h, b in LAPLACE]
    table.write("argmax_more.json", entries)
    for name in ("rel_diff_second_method", "abs_sum_minus_1", "rel_diff_closed_form"):
        print(name, max(abs(e["verify"][name] or 0) for e in entries))


if __name__ == "__main__":
    main()
