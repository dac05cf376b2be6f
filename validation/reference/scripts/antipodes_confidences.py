"""The confidences of the entry antipodes-mem of peers/canaries.json: drawn by NumPy's legacy generator with seed 0.

Writes ../peers/antipodes_confidences.json: `trained` [canary] and `others` [canary, alternative]. Numbers read back
exactly.
"""

import json
import pathlib

import numpy

stream = numpy.random.RandomState(0)
trained = stream.beta(4, 2, (200, 1))
others = stream.beta(2, 4, (200, 8))
place = pathlib.Path(__file__).parent.parent / "peers" / "antipodes_confidences.json"
place.write_text(json.dumps({"trained": trained[:, 0].tolist(), "others": others.tolist()}) + "\n")
