"""Clients of pure-LDP: local differential privacy, where the only record is replaced. Epsilon 1 unless said otherwise."""

import math
import random

import numpy as np
from library import main, numbers, plain
from pure_ldp.frequency_oracles import apple_cms, direct_encoding, hadamard_mechanism, hadamard_response
from pure_ldp.frequency_oracles import histogram_encoding, local_hashing, priv_count_sketch, rappor, unary_encoding

SIZE = 4


def client(make, item=lambda report: plain(report)):
    def run(dataset, runs, rng):
        # The library draws from both of these.
        random.seed(int(rng.integers(2**63)))
        np.random.seed(int(rng.integers(2**32, dtype=np.uint64)))
        value = 1 + int(round(numbers(dataset, 0, SIZE - 1)[0]))
        made = make()
        return [item(made.privatise(value)) for _ in range(runs)]

    return run


def hash_functions(count, width):
    """Hash functions that do not depend on the seed of the run: they are public."""
    return [(lambda shift: lambda value: (int(value) + shift) % width)(shift) for shift in range(count)]


def rappor_client():
    """One cohort, 4 bits, one hash function: epsilon is 2 ln((1 - f/2) / (f/2)) = 1 for f = 2 / (1 + e^(1/2))."""
    return rappor.RAPPORClient(f=2 / (1 + math.exp(0.5)), m=4, hash_funcs=[hash_functions(1, 4)], num_of_cohorts=1)


def fast_hashing():
    return local_hashing.FastLHClient(1.0, SIZE, k=8, use_olh=True)


MECHANISMS = {
    "direct-encoding": client(lambda: direct_encoding.DEClient(1.0, SIZE)),
    "unary-encoding": client(lambda: unary_encoding.UEClient(1.0, SIZE)),
    "unary-encoding-optimized": client(lambda: unary_encoding.UEClient(1.0, SIZE, use_oue=True)),
    "histogram-encoding": client(lambda: histogram_encoding.HEClient(1.0, SIZE)),
    "local-hashing-fast": client(fast_hashing),
    "hadamard-response": client(lambda: hadamard_response.HadamardResponseClient(1.0, SIZE, None)),
    "hadamard-mechanism": client(
        lambda: hadamard_mechanism.HadamardMechClient(1.0, SIZE, 2), lambda report: [list(part) for part in report]
    ),
    "rappor": client(rappor_client),
    "count-mean-sketch": client(lambda: apple_cms.CMSClient(1.0, hash_functions(2, 4), 4)),
    "count-sketch": client(
        lambda: priv_count_sketch.PCSClient(
            1.0, 2, 4, list(zip(hash_functions(2, 4), [lambda value: int(value) % 2, lambda value: int(value) // 2 % 2]))
        )
    ),
}

if __name__ == "__main__":
    main(MECHANISMS)
