"""Name and shame: with a small probability a record is published as it is."""

from protocol import main


def publish_with(probability):
    """Each record is published on its own with this probability; the output lists those published."""

    def mechanism(dataset, runs, rng):
        if not dataset:
            return [[]] * runs
        shown = rng.random((runs, len(dataset))) < probability
        return [[record for record, on in zip(dataset, row) if on] for row in shown.tolist()]

    return mechanism


VARIANTS = {
    "publish": publish_with(0.05),
    "publish-rarely": publish_with(1e-7),
}

if __name__ == "__main__":
    main(VARIANTS)
