"""A mechanism and the test of its claim, for pytest: no plugin is needed."""

import leakbound


def count(dataset, runs, rng):
    """The number of records with Laplace noise: 1-differentially private if one record more or less makes neighbors."""
    # Rounded, because the last binary places of a noisy double tell the datasets apart: leave it out, and the test fails.
    return (len(dataset) + rng.laplace(scale=1.0, size=runs)).round(3)


def test_count_is_private():
    audit = leakbound.audit.mechanism(
        count, [1, 1, 1], relation="add-remove", claim_epsilon=1, delta=0, runs=2e4, failure_probability=1e-3
    )
    audit.raise_if_refuted()
