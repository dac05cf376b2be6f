"""Makes transformer_votes.npz of six recordings: NAME.npz in the folder given, for each adversary NAME of

leakbound torch prompt-pate --data fashion-mnist --recording NAME.npz --adversary NAME --device cpu --steps 4000 \
    --checkpoint transformer.checkpoint --resume
"""

import sys
from pathlib import Path

import numpy as np

ADVERSARIES = ["nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"]

folder = Path(sys.argv[1])
recordings = {name: np.load(folder / f"{name}.npz") for name in ADVERSARIES}
first = recordings["nat-advq"]
arrays = {name: first[name] for name in ("votes", "query_label", "query_index", "example_index")}
for adversary, recording in recordings.items():
    assert (recording["votes"] == first["votes"]).all()
    name, teacher = adversary.replace("-", "_"), recording["changed_teacher"]
    arrays[f"{name}_teacher"] = teacher
    arrays[f"{name}_vote"] = recording["votes_prime"][np.arange(len(teacher)), teacher]
    for array in ("shown_query", "shown_label"):
        if array in recording:
            arrays[f"{name}_{array}"] = recording[array]
np.savez_compressed(Path(__file__).with_name("transformer_votes.npz"), **arrays)
