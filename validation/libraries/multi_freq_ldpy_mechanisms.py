"""Clients of Multi-Freq-LDPy: local differential privacy, where the only record is replaced. Epsilon 1."""

import numpy as np
from library import main, numbers, plain
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
from numba import njit

SIZE = 4


@njit
def seed_compiled(seed):
    """Compiled code has a generator of its own."""
    np.random.seed(seed)


def client(perturb):
    def run(dataset, runs, rng):
        np.random.seed(int(rng.integers(2**32, dtype=np.uint64)))
        seed_compiled(int(rng.integers(2**31)))
        value = int(round(numbers(dataset, 0, SIZE - 1)[0]))
        return [plain(perturb(value)) for _ in range(runs)]

    return run


MECHANISMS = {
    "randomized-response": client(lambda value: GRR_Client(value, SIZE, 1.0)),
    "unary-encoding": client(lambda value: UE_Client(value, SIZE, 1.0, False)),
    "unary-encoding-optimized": client(lambda value: UE_Client(value, SIZE, 1.0, True)),
    "subset-selection": client(lambda value: sorted(plain(SS_Client(value, 8, 1.0)))),
    "histogram-encoding": client(lambda value: HE_Client(value, SIZE, 1.0)),
}

if __name__ == "__main__":
    main(MECHANISMS)
