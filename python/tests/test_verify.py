"""Functions as accountants."""

from __future__ import annotations

import json
import threading

import pytest

import leakbound


def gnmax(request):
    """α/σ² for each answer, the Rényi divergence of GNMax for any votes."""
    if "order" not in request:
        raise NotImplementedError("only Rényi divergences")
    return request["repetitions"] * request["order"] / request["sigma"] ** 2


def test_a_right_accountant_is_not_refuted():
    verdict = leakbound.accounting.verify(gnmax, mechanism="gnmax", scope="data-independent", cases=40)
    assert not verdict.refuted and not verdict.counterexamples
    asked = {row.property: row for row in verdict.properties}
    assert asked["rdp-covers-exact"].cases == 40 and asked["rdp-covers-exact"].declined == 0


def test_a_wrong_accountant_is_refuted_by_the_smallest_case():
    verdict = leakbound.accounting.verify(lambda request: gnmax(request) / 2, mechanism="gnmax", property="rdp-covers-exact")
    assert verdict.refuted
    (found,) = verdict.counterexamples
    assert sum(found.case.histogram) <= 2 and found.violation.claim < found.violation.limit
    # The case is a request: asked again, the claim is the same.
    assert gnmax(found.case.to_dict()) / 2 == pytest.approx(found.violation.claim)


def test_an_exception_is_a_finding_with_its_traceback():
    def careless(request):
        return request["missing"]

    verdict = leakbound.accounting.verify(careless, mechanism="gnmax", property="rdp-covers-exact", cases=5)
    text = json.dumps(verdict.to_dict())
    assert "KeyError" in text and "missing" in text and "careless" in text


def test_what_is_declined_is_counted():
    verdict = leakbound.accounting.verify(gnmax, mechanism="gnmax", property="epsilon-covers-exact", cases=5)
    (row,) = verdict.properties
    assert row.declined > 0 and row.declined_reason == "only Rényi divergences"


def test_what_is_no_number_is_a_finding():
    verdict = leakbound.accounting.verify(lambda request: "much", mechanism="gnmax", property="rdp-covers-exact", cases=5)
    assert "could not convert string to float" in json.dumps(verdict.to_dict())


def test_infinity_is_a_claim():
    verdict = leakbound.accounting.verify(lambda request: float("inf"), mechanism="gnmax", property="rdp-covers-exact", cases=5)
    assert not verdict.refuted


def test_two_at_once():
    found = []
    calls = [
        lambda: found.append(leakbound.accounting.verify(gnmax, mechanism="gnmax", property="rdp-covers-exact", cases=30)),
        lambda: found.append(leakbound.accounting.verify("gnmax-data-dependent", property="rdp-covers-exact", cases=30)),
    ]
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [verdict.refuted for verdict in found] == [False, False]
