"""Results: attributes, tables, figures, notebooks."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import warnings

import numpy as np
import pytest

import leakbound

EXACT = {"noise": "gaussian:2", "orders": [2, 10]}


@pytest.fixture(scope="module")
def distribution():
    return leakbound.accounting.exact([14, 12, 10], [13, 13, 10], **EXACT)


def test_attributes_are_the_keys_of_the_document(distribution):
    document = json.loads(distribution.to_json())
    assert distribution.to_dict() == document
    assert set(document) <= set(dir(distribution))
    assert distribution.seed == 0 and distribution.schema == "leakbound.exact/1" and distribution.options.noise == "gaussian:2"
    assert distribution.divergences[0].forward == document["divergences"][0]["forward"]
    assert [row.order for row in distribution.divergences] == [2, 10] and distribution.divergences[-1].order == 10
    assert len(distribution.accountants.where(name="gnmax-worst-case", direction="forward")) == 2
    np.testing.assert_array_equal(distribution.outcomes.column("label"), ["0", "1", "2"])
    with pytest.raises(AttributeError, match="Divergence has no 'backward'; it has order, forward, reverse"):
        _ = distribution.divergences[0].backward


def test_the_document_is_parsed_when_it_is_asked_for(monkeypatch):
    distribution = leakbound.accounting.exact([14, 12, 10], [13, 13, 10], **EXACT)
    monkeypatch.setattr(json, "loads", lambda text: pytest.fail("parsed"))
    assert distribution.to_json() and not distribution.refuted
    with pytest.raises(pytest.fail.Exception):
        _ = distribution.divergences


def test_words_that_python_reserves_are_items():
    distribution = leakbound.accounting.exact([14, 12, 10], worst_neighbor="moved", **EXACT)
    change = distribution.divergences[0].forward_change
    assert change["from"] == 1 and change.to == 0


def test_infinity_is_a_number_in_rows_and_a_string_in_the_document():
    # A threshold of infinity calls nobody a member.
    rates = leakbound.canaries.CanaryScores(np.arange(20_000.0), np.arange(20_000.0)).audit().rates
    assert rates.to_dict()[0]["threshold"] == "inf" and rates[0].threshold == float("inf")
    assert rates.column("threshold").dtype == np.float64


def test_pandas(distribution):
    frame = distribution.to_pandas()
    assert list(frame.columns) == ["order", "forward", "reverse", "at_least", "at_most"] and len(frame) == 2
    assert distribution.accountants.to_pandas().rdp.iloc[0] == distribution.accountants[0].rdp


def test_missing_libraries_have_a_sentence(distribution, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_pandas needs pandas: pip install 'leakbound\[pandas\]'"):
        distribution.to_pandas()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"plot needs matplotlib: pip install 'leakbound\[plot\]'"):
        distribution.plot()


def test_printing_shows_the_tables_of_the_command(distribution, command):
    words = ("exact", "--histogram", "14,12,10", "--neighbor", "13,13,10", "--noise", "gaussian:2", "--orders", "2,10")
    assert str(distribution) == command(*words, form="text") and repr(distribution) == f"<Exact: {distribution._headline()}>"
    assert str(pickle.loads(pickle.dumps(distribution))) == str(distribution) == f"{distribution}"
    # What was put together elsewhere has no text of the command.
    apart = leakbound.results.Exact.of(distribution.to_json(), False)
    assert str(apart).startswith(repr(distribution)) and "order" in str(apart) and "reverse" in str(apart)


def test_results_travel(distribution):
    for other in (pickle.loads(pickle.dumps(distribution)), copy.deepcopy(distribution)):
        assert other == distribution and other.divergences == distribution.divergences and type(other) is type(distribution)
    with pytest.raises(leakbound.UsageError, match="to_html"):
        pickle.loads(pickle.dumps(distribution)).to_html()
    rows = pickle.loads(pickle.dumps(distribution.divergences))
    assert rows == distribution.divergences and rows[0].order == 2


def test_warnings_are_issued_where_the_caller_stands(data):
    with pytest.warns(leakbound.LeakboundWarning, match="set aside as a pilot.*hint") as caught:
        audit = leakbound.audit.counts(data / "counts.csv", orders=2)
    assert caught[0].filename == __file__ and audit.warnings[0].code == "pilot-set-aside"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:1")


def test_notebooks_show_the_table_and_the_warnings(data):
    with pytest.warns(leakbound.LeakboundWarning):
        audit = leakbound.audit.counts(data / "counts.csv", orders="2..9")
    html = audit._repr_html_()
    assert "k-cut-variational" in html and "<b>warning:</b>" in html and "6 more rows" in html
    assert len(html) < 5000
    assert leakbound.audit.counts([9, 1], [1, 9], outcomes=["<b>", "&"])._repr_html_().count("<b>") == 1


def test_figures(data, scenarios):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    random = np.random.default_rng(0)
    scores = leakbound.canaries.CanaryScores(random.normal(1, 1, 90), random.normal(0, 1, 80))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", leakbound.LeakboundWarning)
        drawn = [
            leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2"),
            leakbound.audit.counts([5, 5], [5, 5], methods="k-cut-box"),
            leakbound.audit.votes(data / "prompt_votes.npz", model="prompt-pate", noise="gaussian:9", queries=[0]),
            scores,
            scores.audit(),
            leakbound.membership.lira(data / "fashion_lira_original.npz", resamples=0),
            leakbound.membership.texts(data / "text_tokens.jsonl"),
            leakbound.accounting.account(scenarios / "prompt-pate.toml"),
            leakbound.simulate.Simulation(scenarios / "prompt-pate.toml").run(samples=1e5),
            leakbound.accounting.verify("broken:gnmax-half", cases=20, property="rdp-covers-exact"),
            leakbound.audit.self_check(scores, repetitions=5),
            leakbound.accounting.RdpCurve([2, 3], [0.1, 0.2]),
            leakbound.audit.confusion(tp=90, fn=10, fp=5, tn=95, methods=["clopper-pearson", "jeffreys"]),
            leakbound.membership.memorization({"probabilities": np.eye(3), "labels_true": [0, 1, 2], "labels_trained": [1, 2, 0]}),
            leakbound.membership.property_distance({"student": np.eye(2), "ensembles": random.dirichlet([1, 1], (2, 3, 2))}),
            leakbound.simulate.bench(work="fixed", seconds=0.01),
            plan := leakbound.canaries.plan(200, claim_mu=1, seed=3),
            plan.audit(plan.coins.astype(float)),
            leakbound.audit.tokens({"logits": random.normal(size=(3, 2, 4))}, mechanism="clipped-logits:clip=1,batch=2"),
        ]
    for item in drawn:
        figure = item.plot().figure
        figure.canvas.draw()
        pyplot.close(figure)
    axes = pyplot.subplots()[1]
    assert scores.plot(axes) is axes
    pyplot.close("all")


def test_progress_is_told():
    told = []
    pate = {"model": "prompt-pate", "noise": "gaussian:40", "seed": 1}
    pate["query"] = [{"histogram": [10, 5], "histogram_neighbor": [9, 6]}]
    leakbound.simulate.Simulation(pate).run(samples=2e7, progress=lambda *update: told.append(update))
    done, total, unit = told[-1]
    assert done == total and isinstance(unit, str)
    assert [update[0] for update in told] == sorted(update[0] for update in told)


def test_no_bound_is_picked_among_several():
    audit = leakbound.audit.confusion(tp=90, fn=10, fp=5, tn=95, methods=["clopper-pearson", "gdp"])
    with pytest.raises(leakbound.UsageError, match="several queries or methods"):
        _ = audit.epsilon_lower
    assert leakbound.audit.confusion(tp=90, fn=10, fp=5, tn=95).epsilon_lower > 1.9


def test_bounds_are_floats():
    scores = leakbound.canaries.CanaryScores(np.arange(100) + 90, np.arange(100))
    bound = scores.epsilon(delta=1e-5)
    assert float(bound) == bound.value == max(row.lower for row in bound.epsilon) > 1
    assert float(scores.mu()) == scores.mu().mu[0].lower
    assert repr(bound).startswith("<EpsilonBound: ε ≥ ") and "failure probability 0.05" in repr(bound)
