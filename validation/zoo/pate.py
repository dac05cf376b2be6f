"""PATE: teachers vote by label, and the noisy plurality is shown. Replacing a record moves one vote."""

import numpy as np

from protocol import counts, main

ANIMALS = ["bird", "cat", "dog"]


def winner(noise):
    def mechanism(dataset, runs, rng):
        noisy = counts(dataset, ANIMALS) + noise(rng, (runs, len(ANIMALS)))
        return np.array(ANIMALS, dtype=object)[noisy.argmax(axis=1)]

    return mechanism


def gaussian(sigma):
    return lambda rng, shape: rng.normal(0, sigma, shape)


VARIANTS = {
    "gnmax": winner(gaussian(2.0)),
    "gnmax-sigma-halved": winner(gaussian(1.0)),
    "lnmax": winner(lambda rng, shape: rng.laplace(0, 2.0, shape)),
}

if __name__ == "__main__":
    main(VARIANTS)
