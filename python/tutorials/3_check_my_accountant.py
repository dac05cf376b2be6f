"""Tutorial 3 of 4: check my accountant.

    python tutorials/3_check_my_accountant.py [FOLDER]

draws the figure of this page into FOLDER, `figures` next to this file if not given.
"""

# %% [markdown]
# An accountant claims upper bounds. A claim is wrong if the exact divergence of some pair of neighbors exceeds it.
# `verify` computes exact distributions of cases that are chosen where accountants go wrong, and shrinks the first case that
# refutes a claim to the smallest one.

# %%
import math
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import leakbound

HERE = Path(__file__).resolve().parent
FIGURES = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "figures"
FIGURES.mkdir(parents=True, exist_ok=True)
warnings.simplefilter("ignore", leakbound.LeakboundWarning)

# %% [markdown]
# An accountant is a function of a request: the mechanism, its noise, the votes, the number of answers, and an order
# (the answer is a Rényi divergence in nats) or δ (the answer is ε). What it cannot answer it declines.


# %%
def careful(request):
    """GNMax: two counts change by one vote, so the divergence of one answer is at most order/σ²."""
    if request["mechanism"] != "gnmax":
        raise NotImplementedError("only GNMax")

    def rdp(order):
        return request["repetitions"] * order / request["sigma"] ** 2

    if "order" in request:
        return rdp(request["order"])
    if "delta" in request:
        log_delta = math.log(request["delta"])
        return min(rdp(order) - log_delta / (order - 1) for order in range(2, 257))
    raise NotImplementedError("no δ at a given ε")


def careless(request):
    """The same, as if only one count could change: half of what one moved vote may cost."""
    return careful(request) / 2


# %%
right = leakbound.accounting.verify(careful, mechanism="gnmax", scope="data-independent", cases=300)
print(right)
assert not right.refuted

wrong = leakbound.accounting.verify(careless, mechanism="gnmax", scope="data-independent", cases=300)
print(wrong)
assert wrong.refuted

# %% [markdown]
# A refutation is a case that can be checked by hand: one vote for one class, which moves to another.

# %%
for row in wrong.properties:
    if row.counterexample is not None:
        case, violation = row.counterexample.case, row.counterexample.violation
        print(f"{row.property}: {violation.words}: claimed {violation.claim:.6g}, at least {violation.limit:.6g}")
        print(f"  histogram {case.histogram}, σ = {case.sigma:g}, {case.repetitions} answer(s)")

found = next(row.counterexample for row in wrong.properties if row.property == "rdp-covers-exact")
histogram, neighbor = found.case.histogram, found.violation.neighbor
distribution = leakbound.accounting.exact(histogram, neighbor, noise=f"gaussian:{found.case.sigma}", orders=found.case.order)
print(f"exact: D(P‖Q) = {distribution.divergences[0].forward:.6g}, D(Q‖P) = {distribution.divergences[0].reverse:.6g}")
assert max(distribution.divergences[0].forward, distribution.divergences[0].reverse) > careless(found.case.to_dict())

# %% [markdown]
# How near the claims came to the exact values, over all cases of each property: above 1 they are refuted. Far below 1
# an accountant is right but loose.

# %%
figure, both = pyplot.subplots(1, 2, figsize=(11, 3.6), layout="constrained", sharex=True)
for axes, verdict, title in zip(both, (right, wrong), ("order/σ²", "half of it")):
    verdict.plot(axes).set_title(title)
figure.savefig(FIGURES / "accountant.png", dpi=100)
pyplot.close("all")

# %% [markdown]
# *Not refuted* is not a proof: no case was found. An exception in the function is a finding too, with its
# traceback. The program of any other language is tested by `leakbound verify --program`.
