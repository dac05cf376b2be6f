"""A count whose own time is known: each output takes 10 microseconds.

It is right, and no entry of zoo.toml: it shows how much longer an audit takes than the program that is audited.
"""

import time

from protocol import main

OUTPUT_NS = 10_000


def count(dataset, runs, rng):
    noise = rng.laplace(0, 1, runs).round(6).tolist()
    outputs = []
    for noise_of_one in noise:
        end = time.perf_counter_ns() + OUTPUT_NS
        outputs.append(len(dataset) + noise_of_one)
        while time.perf_counter_ns() < end:
            pass
    return outputs


if __name__ == "__main__":
    main({"count": count})
