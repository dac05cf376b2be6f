"""One training of Fashion-MNIST by Opacus with canaries of both kinds; prints what the audits found as a line of JSON.

The scores are left in a folder, so that other programs can audit the same ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import pathlib
import time

import numpy as np
import opacus
import torch
from opacus.accountants.utils import get_noise_multiplier

import leakbound
from leakbound import canaries
from leakbound.canaries import opacus as hook
from leakbound.canaries import pytorch


def images(folder: pathlib.Path, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Pixels from 0 to 1, [image, pixel], and classes."""
    with gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return (pixels / 255).astype(np.float32), labels.astype(np.int64)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--epsilon", type=float, required=True, help="claimed, at delta = 1e-5")
    parser.add_argument("--canaries", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--rate", type=float, default=0.005)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--kind", default="dirac")
    parser.add_argument("--null", action="store_true", help="no canary is ever inserted")
    parser.add_argument("--scores", type=pathlib.Path)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    delta = 1e-5
    sigma = get_noise_multiplier(
        target_epsilon=options.epsilon,
        target_delta=delta,
        sample_rate=options.rate,
        steps=options.steps,
        accountant="prv",
    )
    claim = {"mechanism": f"subsampled-gaussian:sigma={sigma!r},rate={options.rate!r}", "times": options.steps}
    gradient_plan, example_plan = (
        leakbound.canaries.plan(options.canaries, seed=2 * options.seed + which, delta=delta, **claim)
        for which in (0, 1)
    )
    inputs, labels = images(options.data, "train")
    order = np.random.default_rng(options.seed).permutation(len(inputs))
    first, rest = order[: options.canaries], order[options.canaries :]
    start = time.perf_counter()
    chosen = canaries.mislabeled(inputs[first], labels[first], classes=10, seed=options.seed)
    if options.null:
        train = torch.as_tensor(inputs[rest]), torch.as_tensor(labels[rest])
    else:
        train = chosen.inserted(example_plan, torch.as_tensor(inputs[rest]), torch.as_tensor(labels[rest]))
    example_seconds = time.perf_counter() - start
    data = torch.utils.data.TensorDataset(*train)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, options.hidden), torch.nn.Tanh(), torch.nn.Linear(options.hidden, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    loader = torch.utils.data.DataLoader(data, batch_size=round(options.rate * len(data)))
    model, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=sigma, max_grad_norm=1.0
    )
    # The loader's rate is a whole number of batches: ours is what is claimed.
    sampler = np.random.default_rng([options.seed, 7])
    watched = hook.attach(optimizer, gradient_plan, sample_rate=options.rate, kind=options.kind, seed=options.seed)
    if options.null:
        watched._members = watched._members[:0]
    mean = canaries.ScoreMean()
    start = time.perf_counter()
    for step in range(options.steps):
        batch = np.flatnonzero(sampler.random(len(data)) < options.rate)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(train[0][batch]), train[1][batch]).backward()
        optimizer.step()
        if (step + 1) % (options.steps // 10) == 0:
            mean.add(pytorch.loss_scores(model, chosen))
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    last = pytorch.loss_scores(model, chosen)
    example_seconds += time.perf_counter() - start
    test_inputs, test_labels = images(options.data, "t10k")
    with torch.no_grad():
        accuracy = float((model(torch.as_tensor(test_inputs)).argmax(1).numpy() == test_labels).mean())
    scores = {
        "gradients": (gradient_plan, watched.scores),
        "last model": (example_plan, last),
        # A plan is for one set of scores; this one has the coins of the other, and is reported apart.
        "mean of models": (
            leakbound.canaries.plan(options.canaries, seed=2 * options.seed + 1, delta=delta, **claim),
            mean.scores,
        ),
    }
    row = {
        "epsilon": options.epsilon,
        "canaries": options.canaries,
        "seed": options.seed,
        "kind": options.kind,
        "null": options.null,
        "sigma": sigma,
        "rate": options.rate,
        "steps": options.steps,
        "accuracy": accuracy,
        "seconds": seconds,
        "canary_seconds": watched.seconds,
        "example_seconds": example_seconds,
        "claimed": gradient_plan.claimed_epsilon,
        "forecast": gradient_plan.forecast.epsilon.to_dict(),
        "audits": {},
    }
    for name, (plan, found) in scores.items():
        audit = plan.audit(found)
        coins = plan.coins
        row["audits"][name] = {
            "epsilon": audit.epsilon_lower,
            "mu": audit.mu_lower,
            "refuted": audit.refuted,
            "auc": float(leakbound.CanaryScores(found[coins], found[~coins]).auc),
        }
        if options.scores is not None:
            options.scores.mkdir(parents=True, exist_ok=True)
            stem = f"{options.epsilon:g}-{options.canaries}-{options.seed}-{name.replace(' ', '-')}"
            np.savez(options.scores / f"{stem}.npz", scores=found, coins=coins)
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
