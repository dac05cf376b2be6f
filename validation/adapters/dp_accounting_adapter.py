"""Answers requests of `leakbound verify` with the library dp-accounting.

pip install dp-accounting, then
leakbound verify --program 'python validation/adapters/dp_accounting_adapter.py' \
    --mechanism gaussian,laplace,subsampled-gaussian --scope data-independent
"""
import json
import math
import sys

import dp_accounting as dp
from dp_accounting import dp_event, pld, rdp

ADD_OR_REMOVE = dp.NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = dp.NeighboringRelation.REPLACE_ONE


def event(request):
    """The released mechanism as an event and its neighboring relation, or None where the library has none for it."""
    sigma, kind = request["sigma"], request["mechanism"]
    if kind == "gaussian":
        return dp.GaussianDpEvent(sigma), ADD_OR_REMOVE
    if kind == "laplace":
        return dp.LaplaceDpEvent(sigma), ADD_OR_REMOVE
    if kind == "discrete-laplace":
        return dp_event.DiscreteLaplaceDpEvent(1 / sigma, 1), ADD_OR_REMOVE
    if kind == "subsampled-gaussian":
        return dp.PoissonSampledDpEvent(request["rate"], dp.GaussianDpEvent(sigma)), ADD_OR_REMOVE
    if kind == "subsampled-gaussian-replace":
        return dp.PoissonSampledDpEvent(request["rate"], dp.GaussianDpEvent(sigma)), REPLACE
    if kind == "randomized-response":
        # The library's parameter is the probability of an answer that is drawn from all classes.
        classes = len(request["histogram"])
        return dp.RandomizedResponseDpEvent(classes / (math.exp(1 / sigma) + classes - 1), classes), REPLACE
    return None


def answer(request, accountant_kind):
    found = event(request)
    if found is None:
        return {"error": "no event for " + request["mechanism"]}
    released, relation = found
    if accountant_kind == "pld":
        if "order" in request:
            return {"error": "no Rényi divergences"}
        accountant = pld.PLDAccountant(relation)
    else:
        orders = [request["order"]] if "order" in request else None
        accountant = rdp.RdpAccountant(orders, relation)
    if not accountant.supports(released):
        return {"error": "unsupported event " + type(released).__name__}
    accountant.compose(released, request["repetitions"])
    if "order" in request:
        return {"value": float(accountant._rdp[0])}
    if "delta" in request:
        return {"value": float(accountant.get_epsilon(request["delta"]))}
    return {"value": float(accountant.get_delta(request["epsilon"]))}


def main():
    accountant_kind = "pld" if "--pld" in sys.argv else "rdp"
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), accountant_kind)), flush=True)


main()
