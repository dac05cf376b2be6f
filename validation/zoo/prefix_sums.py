"""Running totals of a stream of counts in which one step moves by 1 (relation l1:1). Epsilon is 1."""

import numpy as np

from protocol import grid, main, numbers

STEPS = 8


def stream(dataset):
    values = numbers(dataset, 0, 100)[:STEPS]
    return np.concatenate((values, np.zeros(STEPS - len(values))))


def tree_with(scale):
    """Each total is the sum of the noisy nodes of its binary digits; a step lies in up to 4 nodes."""

    def mechanism(dataset, runs, rng):
        values = stream(dataset)
        nodes = {}
        totals = np.zeros((runs, STEPS))
        for end in range(1, STEPS + 1):
            start, rest = 0, end
            while rest:
                width = 1 << (rest.bit_length() - 1)
                key = (start, start + width)
                if key not in nodes:
                    nodes[key] = values[start : start + width].sum() + rng.laplace(0, scale, runs)
                totals[:, end - 1] += nodes[key]
                start, rest = start + width, rest - width
        return grid(totals)

    return mechanism


def running_noise(dataset, runs, rng):
    # Totals of noisy steps: one draw of noise for each step, so epsilon 1 needs scale 1 only.
    return grid((stream(dataset) + rng.laplace(0, 1, (runs, STEPS))).cumsum(axis=1))


def fresh_noise(dataset, runs, rng):
    # Every total gets noise for a single count, but a step counts in up to 8 totals.
    return grid(stream(dataset).cumsum() + rng.laplace(0, 1, (runs, STEPS)))


VARIANTS = {
    "tree": tree_with(4),
    # Noise as if a step lay in one node.
    "tree-single-node": tree_with(1),
    "running-noise": running_noise,
    "fresh-noise": fresh_noise,
}

if __name__ == "__main__":
    main(VARIANTS)
