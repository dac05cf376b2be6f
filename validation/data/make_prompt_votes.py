"""Makes prompt_votes.npz and counts.csv; needs numpy 2 and fashion_votes.npz beside it.

prompt_votes.npz: real recorded votes in the form of PromptPATE, one vote changed per query.
counts.csv: a noisy argmax drawn from two neighboring histograms, seed fixed.
"""

from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
CLASSES = 10


def prompt_votes():
    recorded = np.load(HERE / "fashion_votes.npz")
    queries = recorded["adv_query"]
    votes = recorded["pate_votes"][0][queries]
    votes_prime = votes.copy()
    # Teacher 0 votes as most teachers trained with the mislabeled query do (the smallest class on a tie); where it
    # did so already the two histograms agree, which is a query that leaks nothing.
    votes_prime[:, 0] = [np.bincount(row, minlength=CLASSES).argmax() for row in recorded["pate_pois_advq"]]
    np.savez_compressed(
        HERE / "prompt_votes.npz",
        votes=votes,
        votes_prime=votes_prime,
        query_label=recorded["query_label"][queries],
    )
    print("prompt_votes.npz:", votes.shape, "unchanged queries:", int((votes[:, 0] == votes_prime[:, 0]).sum()))


def noisy_argmax(generator, histogram, sigma, samples):
    noisy = np.asarray(histogram) + generator.normal(0.0, sigma, size=(samples, len(histogram)))
    return np.bincount(noisy.argmax(axis=1), minlength=len(histogram))


def counts():
    generator = np.random.Generator(np.random.PCG64(20240501))
    dataset = noisy_argmax(generator, [14, 12, 10, 8, 6, 5, 4, 3, 2, 1], 4.0, 100_000)
    neighbor = noisy_argmax(generator, [13, 13, 10, 8, 6, 5, 4, 3, 2, 1], 4.0, 100_000)
    rows = [f"{outcome},{a},{b}" for outcome, (a, b) in enumerate(zip(dataset, neighbor))]
    (HERE / "counts.csv").write_text("\n".join(["outcome,count,count_neighbor", *rows]) + "\n")
    print("counts.csv:", dataset.tolist(), neighbor.tolist())


if __name__ == "__main__":
    prompt_votes()
    counts()
