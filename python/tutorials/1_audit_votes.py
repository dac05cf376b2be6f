"""Tutorial 1 of 4: audit recorded votes.

    python tutorials/1_audit_votes.py [FOLDER]

draws the figures of this page into FOLDER, `figures` next to this file if not given. A cell begins at `# %%`, so that
editors and Jupytext open the script as a notebook.
"""

# %% [markdown]
# An ensemble of 250 teachers votes on an image, noise is added to the ten counts, and the largest noisy count is the
# answer (PATE). How much does one answer tell about one training image? The repository has votes of teachers that
# were really trained, twelve times over, and of teachers that were trained with one more, wrongly labeled image.

# %%
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

import leakbound

HERE = Path(__file__).resolve().parent
FIGURES = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "figures"
VOTES = HERE.parents[1] / "validation" / "data" / "fashion_votes.npz"
FIGURES.mkdir(parents=True, exist_ok=True)
# What is warned of is in `audit.warnings`; here it is printed once, below.
warnings.simplefilter("ignore", leakbound.LeakboundWarning)

# %% [markdown]
# The audit fits the vote model to the recording, simulates answers with and without the poisoned image, and sets side
# by side what a million answers prove, what is true of the model, and what accountants promise. A name is all that
# says which adversary is meant; every other option has the command's default.

# %%
audit = leakbound.audit.votes(
    VOTES,
    model="pate",
    adversary="pois-advq",
    noise="gaussian:40",
    samples=1e6,
    queries=[18, 32, 42, 45, 57, 85, 94],
    orders=[2, 3, 5, 8, 13, 21, 34],
)
print(audit)
for warning in audit.warnings:
    print("warning:", warning.message)

# %% [markdown]
# Rows are objects with attributes. A lower bound never comes without its method, its failure probability and what
# that probability rests on.

# %%
for query in audit.queries:
    lower = query.lower.where(direction="forward", order=2.0)[0]
    exact = query.exact[0].forward
    worst = query.upper.where(name="gnmax-worst-case", order=2.0)[0].rdp
    print(
        f"query {query.query:>3}: {lower.rdp_lower:.2e} ({lower.method}, {lower.validity}, "
        f"failure probability {lower.failure_probability:g}) ≤ {exact:.2e} ≤ {worst:.2e}"
    )

# %% [markdown]
# The mean over the queries against the order. The accountants hold for any votes and any change of one vote; the black
# line is the distribution of this model, and the triangles are what the answers alone certify of it.

# %%
axes = audit.plot()
axes.figure.savefig(FIGURES / "votes.png", dpi=100)

# %% [markdown]
# How much do a hundred answers cost together? `account` composes what the accountants promise, and, because the
# votes are known here, what they really cost.

# %%
costs = leakbound.accounting.account(VOTES, noise="gaussian:40", delta=1e-5, queries=range(100), composition="pld")
print(costs.to_pandas()[["name", "meaning", "epsilon"]].to_string(index=False))
axes = costs.plot()
axes.figure.savefig(FIGURES / "votes_account.png", dpi=100)
pyplot.close("all")

# %% [markdown]
# What these numbers do not prove: bounds and exact values hold for the model that was fitted to the recorded votes,
# and a small lower bound does not show that a mechanism is private. A cost that depends on the votes is not itself
# private.
