"""Tutorial 4 of 4: audit your DP-SGD in one run.

    python tutorials/4_audit_one_run.py [FOLDER]

draws the figures of this page into FOLDER, `figures` next to this file if not given.
"""

# %% [markdown]
# DP-SGD claims an upper bound of ε. A lower bound needs an attack: records that are in the training or not, and a guess
# for each. One training is enough if each of many records, the canaries, is in by a coin of its own (Steinke et al.
# 2023). The plan is made first: the coins, and how their scores will become a bound.

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

SIGMA, RATE, STEPS, CLIP = 2.5, 0.1, 100, 4.0
claim = {"mechanism": f"subsampled-gaussian:sigma={SIGMA},rate={RATE}", "times": STEPS}
plan = leakbound.canaries.plan(1000, seed=1, **claim)
print(plan)

# %% [markdown]
# The forecast shows what to expect of a perfect attack if the claim is true and tight. One run shows a part of ε: that
# is not a sign of privacy beyond the claim. `plan.sha256` is what one would deposit before training. Without `seed` the
# operating system draws the coins.
#
# Canaries are gradients here, one direction in the space of the parameters for each. In a training loop of your own
# they take three lines, marked below. With Opacus it is one line,
#
#     watched = leakbound.canaries.opacus.attach(optimizer, plan, sample_rate=RATE)
#
# after `PrivacyEngine.make_private`.

# %%
data = np.load(HERE.parents[1] / "validation" / "data" / "fashion_sample.npz")
images, labels = data["x_train"].reshape(-1, 784) / 255.0, data["y_train"]
test_images, test_labels = data["x_test"].reshape(-1, 784) / 255.0, data["y_test"]


def train(watched, deviation, seed=0):
    """Softmax regression by DP-SGD; returns the share of test images that it classifies rightly."""
    random = np.random.default_rng(seed)
    weights = np.zeros((785, 10))
    inputs = np.concatenate([images, np.ones((len(images), 1))], axis=1)
    targets = np.eye(10)[labels]
    for _ in range(STEPS):
        batch = np.flatnonzero(random.random(len(images)) < RATE)
        logits = inputs[batch] @ weights
        shares = np.exp(logits - logits.max(axis=1, keepdims=True))
        errors = shares / shares.sum(axis=1, keepdims=True) - targets[batch]
        # The gradient of an image is an outer product, and its norm a product of norms.
        norms = np.linalg.norm(inputs[batch], axis=1) * np.linalg.norm(errors, axis=1)
        total = inputs[batch].T @ (errors * np.minimum(1, CLIP / np.maximum(norms, 1e-12))[:, None])
        others = watched.along(total.ravel())  # 1: what the images say along the canaries
        for canary in watched.batch():  # 2: the canaries of this step
            places, values = watched.gradient(canary)
            total.ravel()[places] += CLIP * values
        total += random.normal(0, deviation, total.shape)
        watched.observe((watched.along(total.ravel()) - others) / CLIP)  # 3: what the noisy sum says
        weights -= 0.5 * total / (RATE * len(images))
    logits = test_images @ weights[:-1] + weights[-1]
    return (logits.argmax(axis=1) == test_labels).mean()


watched = leakbound.canaries.GradientCanaries(plan, 7850, sample_rate=RATE, noise_multiplier=SIGMA, sampling_seed=1)
accuracy = train(watched, SIGMA * CLIP)
audit = plan.audit(watched.scores)
lower, upper = watched.noise_interval()
print(f"accuracy {accuracy:.1%}, noise multiplier in [{lower:.3f}, {upper:.3f}], claimed {SIGMA}")
print(audit)
assert not audit.refuted

# %% [markdown]
# A mistake that is easily made: the deviation of the noise is σ, and not σ times the clipping norm. The plan is a new
# one, as for every run. The noise along the canaries that were left out shows it after a few steps, if the noise is
# normal; the bound of ε shows it whatever the noise is.

# %%
wrong_plan = leakbound.canaries.plan(1000, seed=2, **claim)
wrong = leakbound.canaries.GradientCanaries(wrong_plan, 7850, sample_rate=RATE, noise_multiplier=SIGMA, sampling_seed=2)
train(wrong, SIGMA)
found = wrong_plan.audit(wrong.scores)
lower, upper = wrong.noise_interval()
print(f"noise multiplier in [{lower:.3f}, {upper:.3f}], claimed {SIGMA}")
print(found)
assert found.refuted and upper < SIGMA

# %% [markdown]
# Scores of canaries that were in the training, and of the others.

# %%
figure, both = pyplot.subplots(1, 2, figsize=(11, 3.6), layout="constrained", sharey=True)
for axes, one, coins, result, title in zip(
    both,
    (watched, wrong),
    (plan.coins, wrong_plan.coins),
    (audit, found),
    ("as claimed", "noise without the clipping norm"),
):
    edges = np.linspace(one.scores.min(), one.scores.max(), 50)
    axes.hist(one.scores[~coins], edges, alpha=0.6, label="left out")
    axes.hist(one.scores[coins], edges, alpha=0.6, label="in the training")
    axes.set_title(f"{title}: ε ≥ {result.epsilon_lower:.2f}, claimed {plan.claimed_epsilon:.2f}")
    axes.set_xlabel("log likelihood ratio")
    axes.legend()
both[0].set_ylabel("canaries")
figure.savefig(FIGURES / "one_run.png", dpi=100)
pyplot.close("all")

# %% [markdown]
# A claim that is not refuted is not proved: another attack, more canaries or other data may show more. What this audit
# cannot see is listed in docs/canaries.md.
