"""Tutorial 2 of 4: LiRA from saved logits.

    python tutorials/2_lira.py [FOLDER]

draws the figures of this page into FOLDER, `figures` next to this file if not given.
"""

# %% [markdown]
# Sixty-four networks were trained, each on a random half of 500 images, and their logits on all 500 were saved. That
# is all that membership inference needs: no training framework, no model. The arrays are logits [model, sample, view,
# class], labels [sample], and keep [model, sample], true where the model was trained on the sample.

# %%
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot

import leakbound

HERE = Path(__file__).resolve().parent
FIGURES = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "figures"
FIGURES.mkdir(parents=True, exist_ok=True)
warnings.simplefilter("ignore", leakbound.LeakboundWarning)

saved = np.load(HERE.parents[1] / "validation" / "data" / "fashion_lira_original.npz")
logits, labels, keep = saved["logits"], saved["labels"], saved["keep"]
print("logits", logits.shape, logits.dtype)

# %% [markdown]
# Each network is a victim in turn, and the others are its shadow models. The arrays are read where they lie. A rate at
# a low false positive rate comes with its limits.

# %%
attack = leakbound.membership.lira(logits, labels, keep, fpr=[0.001, 0.01])
for fpr in (0.001, 0.01):
    rate = attack.tpr_at_fpr(fpr)
    print(f"TPR at FPR {fpr:g}: {rate.tpr:.4f} [{rate.tpr_lower:.4f}, {rate.tpr_upper:.4f}], {rate.validity}")
    band = f"[{rate.bootstrap_lower:.4f}, {rate.bootstrap_upper:.4f}]"
    print(f"  over victims, because the guesses on one network depend on each other: {band}")

# %% [markdown]
# Published implementations differ in their formulas, and so do their numbers.

# %%
for variant in ("leakbound", "carlini-2022", "tf-amia", "aerni-2024", "leakpro"):
    found = leakbound.membership.lira(logits, labels, keep, variant=variant, fpr=[0.001], resamples=0)
    print(f"{variant:>14}: AUC {found.auc:.4f}, TPR at FPR 0.1 % {found.tpr_at_fpr(0.001).tpr:.4f}")

# %% [markdown]
# Other attacks on the same recording, with their bands.

# %%
compared = leakbound.membership.compare(logits, labels, keep, attacks=["lira", "rmia", "threshold"], resamples=100)
axes = compared.plot()
axes.figure.savefig(FIGURES / "lira_roc.png", dpi=100)

# %% [markdown]
# The average over all samples hides the samples that are found without fail. Each sample on its own, the most
# vulnerable first:

# %%
samples = attack.sample_level[0].samples
rates, limits = samples.column("tpr"), samples.column("tpr_lower")
print(f"{np.sum(rates == 1)} of {len(samples)} samples have a TPR of 100 % on the 64 networks")
figure, axes = pyplot.subplots(figsize=(5.2, 3.6), layout="constrained")
place = np.arange(1, len(rates) + 1)
axes.plot(place, rates, color="#0072B2", label="TPR of the sample")
axes.fill_between(place, limits, rates, color="#0072B2", alpha=0.2, linewidth=0, label="at least")
axes.axhline(attack.sample_level[0].population_tpr, color="#D55E00", label="of the population")
axes.set(xlabel="samples, most vulnerable first", ylabel=f"TPR at FPR {attack.sample_level[0].target_fpr:g}")
axes.legend(fontsize="small", frameon=False)
figure.savefig(FIGURES / "lira_samples.png", dpi=100)
pyplot.close("all")

# %% [markdown]
# Scores of canaries become a bound of ε. The canaries of one training run need the bound for one run, in which each
# was in or out by a fair coin of its own; the scores of one victim are such a run.

# %%
victim = 0
truth = np.take_along_axis(logits[:, :, 0], labels[None, :, None], axis=2)[:, :, 0]
others = np.where(np.arange(10) == labels[:, None], -np.inf, logits[:, :, 0]).max(axis=2)
margin = truth - others
# How far the victim's margin is from the mean of networks without the sample. Every sample is in exactly half of the
# networks, so how many others lack it tells whether the victim has it: a random sixteen of them tell nothing.
random = np.random.default_rng(0)
lacking = [random.choice(np.flatnonzero(~keep[1:, sample]) + 1, 16, replace=False) for sample in range(keep.shape[1])]
score = margin[victim] - np.array([margin[networks, sample].mean() for sample, networks in enumerate(lacking)])
scores = leakbound.canaries.CanaryScores(score[keep[victim]], score[~keep[victim]])
print(scores, f"AUC {scores.auc:.3f}")
print(scores.epsilon_one_run(delta=1e-5))

# %% [markdown]
# A threshold must not be chosen on the scores that are bounded: `selection` says how it is chosen, and only `"naive"`,
# which other tools do, has no guarantee. A small lower bound does not show that training is private.
