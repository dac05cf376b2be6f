"""Levels of Efron's BCa interval with 40 digits: the constants of src/audit/bootstrap/tests.rs."""

from mpmath import mp, mpf, ncdf, erfinv, sqrt, nstr

mp.dps = 40


def quantile(p):
    return sqrt(2) * erfinv(2 * p - 1)


for failure, bias, acceleration in [(0.05, -0.25, 0.02), (0.05, 0.3, -0.05), (1e-6, -0.5, 0.01), (0.3, 0.1, 0.2)]:
    failure_, bias_, acceleration_ = mpf(failure), mpf(bias), mpf(acceleration)
    total = bias_ + quantile(failure_)
    level = ncdf(bias_ + total / (1 - acceleration_ * total))
    print(f"    ({failure:e}, {bias}, {acceleration}, {nstr(level, 17)}),")
