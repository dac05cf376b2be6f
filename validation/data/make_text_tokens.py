"""Writes text_tokens.jsonl: invented log-probabilities of tokens, of members shifted up a little.

No language model is behind them: they are for examples and tests. 60 documents of 1 to 3 sequences of 8 to 16 tokens
over a vocabulary of 50; logits are normal, and members have a larger one at the token that came.
"""

import json
from pathlib import Path

import numpy

random = numpy.random.default_rng(1)
lines = []
for document in range(60):
    member = document % 2 == 0
    hardness = random.normal(0, 0.3)
    for part in range(random.integers(1, 4)):
        tokens = int(random.integers(8, 17))
        logits = random.normal(0, 2, size=(tokens, 50))
        came = random.integers(0, 50, size=tokens)
        logits[numpy.arange(tokens), came] += 2 + hardness
        easier = logits + random.normal(0, 1.5, size=logits.shape)
        if member:
            logits[numpy.arange(tokens), came] += 0.8

        def log_softmax(logits):
            return logits - numpy.log(numpy.exp(logits).sum(1, keepdims=True))

        log_p = log_softmax(logits)
        mean = (numpy.exp(log_p) * log_p).sum(1)
        variance = (numpy.exp(log_p) * log_p**2).sum(1) - mean**2
        own, reference = log_p[numpy.arange(tokens), came], log_softmax(easier)[numpy.arange(tokens), came]
        neighbors = -reference.mean() + random.normal(0, 0.4) + random.normal(0.3, 0.2, size=3)
        candidates = random.normal(2.4, 0.35, size=15)
        rounded = lambda values: [round(float(value), 3) for value in numpy.atleast_1d(values)]
        lines.append({
            "document": f"text-{document}",
            "member": member,
            "log_probabilities": rounded(own),
            "log_probability_mean": rounded(mean),
            "log_probability_deviation": rounded(numpy.sqrt(variance)),
            "reference_log_probabilities": rounded(reference),
            "neighbor_losses": rounded(numpy.maximum(neighbors, 0.05)),
            "candidate_losses": rounded(candidates),
            "text": " ".join(f"word{token}" for token in came),
        })
text = "".join(json.dumps(line) + "\n" for line in lines)
Path(__file__).with_name("text_tokens.jsonl").write_text(text)
