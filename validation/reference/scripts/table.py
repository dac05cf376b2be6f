"""Decimal strings and table files for the reference scripts.

A table is a JSON list with one entry per line.  Expected values are decimal
strings of 40 significant digits (trailing zeros dropped); a ball whose radius
does not support them stops the script.
"""
import json
from pathlib import Path

import mpmath
from flint import arb

DIRECTORY = Path(__file__).resolve().parent.parent
DIGITS = 40


def to_mpf(x):
    """Midpoint of an `arb` as an `mpf`, exactly."""
    mantissa, exponent = x.mid().man_exp()
    with mpmath.workprec(max(64, int(mantissa).bit_length())):
        return mpmath.ldexp(mpmath.mpf(int(mantissa)), int(exponent))


def decimal(x, tolerance=1e-38):
    """40-digit decimal string of an `arb` or `mpf`."""
    if isinstance(x, arb):
        if not x.is_exact():
            if x.contains(0) or not x.rad() < abs(x.mid()) * arb(tolerance):
                raise ArithmeticError(f"ball too wide for {DIGITS} digits: {x}")
        x = to_mpf(x)
    if x == 0:
        return "0"
    return mpmath.nstr(x, DIGITS, min_fixed=-2, max_fixed=2)


def relative_difference(a, b):
    """|a - b| / |a| of two `arb` midpoints as a double, 0 when both vanish.

    A difference below the exponent range of a double is given as 0.
    """
    a, b = a.mid(), b.mid()
    if a == b:
        return 0.0
    return float("%.3g" % float(abs(a - b) / max(abs(a), abs(b))))


def write(name, entries, limit=400_000):
    """Write `entries` to `name`, one per line; reject files above `limit` bytes."""
    text = "[\n" + ",\n".join(json.dumps(e) for e in entries) + "\n]\n"
    if len(text) > limit:
        raise ValueError(f"{name}: {len(text)} bytes")
    (DIRECTORY / name).write_text(text)
    print(f"{name}: {len(entries)} entries, {len(text)} bytes")
