"""Answers requests of `leakbound verify` with the library dp-accounting.

pip install dp-accounting, then
leakbound verify --program 'python validation/adapters/dp_accounting_adapter.py' \
    --mechanism gaussian,laplace,subsampled-gaussian --scope data-independent
"""
import json
import sys

import dp_accounting as dp
from dp_accounting import pld, rdp

ADD_OR_REMOVE = dp.NeighboringRelation.ADD_OR_REMOVE_ONE


def event(request):
    """The released mechanism as an event, or None where the library has none for it."""
    sigma, kind = request["sigma"], request["mechanism"]
    if kind == "gaussian":
        return dp.GaussianDpEvent(sigma)
    if kind == "laplace":
        return dp.LaplaceDpEvent(sigma)
    if kind == "subsampled-gaussian":
        return dp.PoissonSampledDpEvent(request["rate"], dp.GaussianDpEvent(sigma))
    return None


def answer(request, accountant_kind):
    released = event(request)
    if released is None:
        return {"error": "no event for " + request["mechanism"]}
    if accountant_kind == "pld":
        if "order" in request:
            return {"error": "no Rényi divergences"}
        accountant = pld.PLDAccountant(ADD_OR_REMOVE)
    else:
        orders = [request["order"]] if "order" in request else None
        accountant = rdp.RdpAccountant(orders, ADD_OR_REMOVE)
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
