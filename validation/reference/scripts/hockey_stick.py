"""hockey_more.json: hockey-stick divergences of noisy argmax distributions.

    python validation/reference/scripts/hockey_stick.py

delta_forward = sum_c max(0, P_c - e^eps Q_c), delta_reverse with P and Q exchanged.
Second method: the distributions of the second quadrature, and the dual form
1 - sum_c min(P_c, e^eps Q_c).
"""
from flint import arb, ctx

import renyi_divergence as rd
import table

EPSILONS = [0.0, 1e-3, 0.1, 1.0, 3.0]
PAIRS = [
    ("gaussian", 40, [125, 125], [124, 126]), ("gaussian", 0.3, [5, 5], [4, 6]), ("gaussian", 500, [2, 1], [1, 2]),
    ("gaussian", 10, [250, 0], [249, 1]), ("gaussian", 5, [1000, 0], [999, 1]), ("gaussian", 2, [7, 3], [7, 4]),
    ("gaussian", 40, [250, 0, 0], [249, 1, 0]), ("gaussian", 4, [90, 85, 75], [89, 86, 75]), ("gaussian", 1, [3, 3, 3], [2, 4, 3]),
    ("gaussian", 0.3, [5, 5, 4], [4, 6, 4]), ("gaussian", 500, [5, 4, 3], [5, 4, 4]), ("gaussian", 1, [5, 0, 0], [4, 0, 0]),
    ("gaussian", 40, [250] + [0] * 9, [249, 1] + [0] * 8), ("gaussian", 10, [250] + [0] * 9, [249] + [0] * 9),
    ("gaussian", 40, [70, 66, 40, 30, 20, 10, 8, 4, 1, 1], [69, 67, 40, 30, 20, 10, 8, 4, 1, 1]),
    ("gaussian", 2, [70, 66, 40, 30, 20, 10, 8, 4, 1, 1], [69, 67, 40, 30, 20, 10, 8, 4, 1, 1]),
    ("gaussian", 3, [5] * 50, [4, 6] + [5] * 48), ("gaussian", 0.5, [1] * 26, [0, 2] + [1] * 24),
    ("laplace", 20, [125, 125], [124, 126]), ("laplace", 0.5, [3, 3, 3], [2, 4, 3]), ("laplace", 1, [6, 5, 0], [5, 6, 0]),
    ("laplace", 2, [250, 0, 0], [249, 1, 0]), ("laplace", 20, [70, 66, 40, 30], [69, 67, 40, 30]),
    ("laplace", 500, [5, 4, 3], [5, 4, 4]), ("laplace", 0.3, [4, 4, 4, 4, 4], [3, 5, 4, 4, 4]),
]


def excess(p, q, epsilon):
    """sum max(0, p - e^eps q)."""
    factor = arb(epsilon).exp()
    gaps = [x - factor * y for x, y in zip(p, q)]
    return sum((g for g in gaps if g > 0), arb(0))


def dual(p, q, epsilon):
    """1 - sum min(p, e^eps q)."""
    factor = arb(epsilon).exp()
    return 1 - sum((x if x < factor * y else factor * y for x, y in zip(p, q)), arb(0))


def compare(p, q, p2, q2, epsilon):
    value, other = excess(p, q, epsilon), dual(p2, q2, epsilon)
    if value == 0:
        assert abs(other) < 1e-300
        return value, 0.0
    difference = table.relative_difference(value, other)
    assert difference < 1e-36, (epsilon, value.str(20), other.str(20))
    return value, difference


def main():
    entries = []
    for noise, scale, counts, neighbor in PAIRS:
        p, p2, q, q2 = rd.close_all(rd.distributions(noise, scale, counts) + rd.distributions(noise, scale, neighbor))
        for epsilon in EPSILONS:
            forward, first = compare(p, q, p2, q2, epsilon)
            reverse, second = compare(q, p, q2, p2, epsilon)
            entries.append({
                "kind": "argmax",
                "inputs": {"noise": noise, "scale": scale, "histogram": counts, "neighbor": neighbor, "epsilon": epsilon},
                "expected": {"delta_forward": table.decimal(forward), "delta_reverse": table.decimal(reverse)},
                "verify": {"rel_diff_second_method": max(first, second)}})
    table.write("hockey_more.json", entries)
    print("worst", max(e["verify"]["rel_diff_second_method"] for e in entries))
    print("zero on one side:", sum("0" in e["expected"].values() for e in entries))


if __name__ == "__main__":
    main()
