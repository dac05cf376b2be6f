"""Answers requests of `leakbound verify` with the library autodp.

pip install autodp, then
leakbound verify --program 'python validation/adapters/autodp_adapter.py' \
    --mechanism gaussian,laplace,subsampled-gaussian,gnmax --scope data-independent
"""
import json
import sys

from autodp import mechanism_zoo, rdp_acct, rdp_bank, transformer_zoo


def curve(request):
    """RDP of one output as a function of the order, or None where the library has none for it."""
    sigma, kind = request["sigma"], request["mechanism"]
    if kind == "gaussian":
        return lambda order: rdp_bank.RDP_gaussian({"sigma": sigma}, order)
    if kind == "laplace":
        return lambda order: rdp_bank.RDP_laplace({"b": sigma}, order)
    if kind == "gnmax":
        # Two counts change by one each: sensitivity sqrt(2).
        return lambda order: rdp_bank.RDP_gaussian({"sigma": sigma / 2**0.5}, order)
    return None


def subsampled(request):
    gaussian = mechanism_zoo.GaussianMechanism(request["sigma"])
    return transformer_zoo.AmplificationBySampling()(gaussian, request["rate"], improved_bound_flag=True)


def answer(request):
    if request["mechanism"] == "subsampled-gaussian":
        mechanism = subsampled(request)
        if "order" in request:
            return {"value": request["repetitions"] * float(mechanism.RenyiDP(request["order"]))}
        mechanism = transformer_zoo.Composition()([mechanism], [request["repetitions"]])
        if "delta" in request:
            return {"value": float(mechanism.get_approxDP(request["delta"]))}
        return {"value": float(mechanism.approx_delta(request["epsilon"]))}
    rdp = curve(request)
    if rdp is None:
        return {"error": "no curve for " + request["mechanism"]}
    if "order" in request:
        return {"value": request["repetitions"] * float(rdp(request["order"]))}
    accountant = rdp_acct.anaRDPacct()
    accountant.compose_mechanism(rdp, request["repetitions"])
    if "delta" in request:
        return {"value": float(accountant.get_eps(request["delta"]))}
    return {"error": "its accountant of curves converts to epsilon only"}


def main():
    # The library prints notes of its own: stdout belongs to the answers.
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=out, flush=True)


main()
