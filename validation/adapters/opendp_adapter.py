"""Answers requests of `leakbound verify` with the privacy maps of OpenDP.

pip install opendp, then
leakbound verify --program 'python validation/adapters/opendp_adapter.py' \
    --mechanism gaussian,laplace,discrete-gaussian,discrete-laplace,randomized-response,exponential,permute-and-flip \
    --scope data-independent
"""
import json
import math
import sys

import opendp.prelude as dp

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")

REALS = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
INTEGERS = dp.atom_domain(T=int), dp.absolute_distance(T=int)


def selection(kind, scale):
    """Noisy max of scores of which one vote that moves changes two by 1, in opposite directions."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    measure = dp.zero_concentrated_divergence() if kind == "exponential" else dp.max_divergence()
    return dp.m.make_noisy_max(*space, measure, scale=scale)


def measurement(request):
    """The measurement and the distance of neighbors, or None where the library has none for it."""
    sigma, kind = request["sigma"], request["mechanism"]
    if kind == "laplace":
        return dp.m.make_laplace(*REALS, scale=sigma), 1.0
    if kind == "gaussian":
        return dp.m.make_gaussian(*REALS, scale=sigma), 1.0
    if kind == "discrete-laplace":
        return dp.m.make_laplace(*INTEGERS, scale=sigma), 1
    if kind == "discrete-gaussian":
        return dp.m.make_gaussian(*INTEGERS, scale=sigma), 1
    if kind == "randomized-response":
        classes = len(request["histogram"])
        truth = 1 / (1 + (classes - 1) * math.exp(-1 / sigma))
        return dp.m.make_randomized_response(list(range(classes)), truth), 1
    if kind in ("exponential", "permute-and-flip"):
        return selection(kind, sigma), 1
    return None


def answer(request):
    found = measurement(request)
    if found is None:
        return {"error": "no measurement for " + request["mechanism"]}
    one, distance = found
    times = request["repetitions"]
    # The composition of the library; its own sum of one is that one.
    composed = dp.c.make_composition([one] * times) if times > 1 else one
    loss = composed.map(distance)
    concentrated = one.output_measure == dp.zero_concentrated_divergence()
    if "order" in request:
        # Concentrated privacy is a claim about every order; of pure privacy the loss itself is one.
        return {"value": request["order"] * loss if concentrated else loss}
    if not concentrated:
        return {"value": loss} if "delta" in request else {"error": "pure privacy has an epsilon only"}
    curve = dp.c.make_zCDP_to_approxDP(composed).map(distance)
    if "delta" in request:
        return {"value": curve.epsilon(request["delta"])}
    return {"value": curve.delta(request["epsilon"])}


def main():
    for line in sys.stdin:
        try:
            found = answer(json.loads(line))
        except dp.OpenDPException as error:
            found = {"error": str(error).splitlines()[0]}
        print(json.dumps(found), flush=True)


main()
