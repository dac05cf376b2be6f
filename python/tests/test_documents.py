"""Every call of Python gives the command's document, digit for digit."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import sys
import typing

import numpy as np
import pytest
from conftest import digits, validators

import leakbound

pytestmark = pytest.mark.filterwarnings("ignore::leakbound.LeakboundWarning")

LIRA = "validation/data/fashion_lira_original.npz"
VOTES = "validation/data/fashion_votes.npz"
KNN = "validation/data/fashion_knn.npz"
PROMPT = "validation/data/prompt_votes.npz"
COUNTS = "validation/data/counts.csv"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch, data):
    monkeypatch.chdir(data.parents[1])


@pytest.fixture(scope="module")
def random():
    return np.random.default_rng(20)


def same(result, text, inputs=False):
    assert digits(result.to_json(), inputs) == digits(text, inputs)
    document = result.to_dict()
    validators()[document["command"]].validate(document)
    # Every key has its place in the types, and none is there that they do not know.
    assert set(document) <= set(typing.get_type_hints(type(result)))
    return result


def test_exact(command):
    words = "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise gaussian:2 --orders 2,10 --epsilons 0.1,1"
    call = {"noise": "gaussian:2", "orders": [2, 10], "epsilons": np.array([0.1, 1.0])}
    same(leakbound.accounting.exact([14, 12, 10, 8, 6], (13, 13, 10, 8, 6), **call), command(*words.split()))


def test_exact_worst_neighbor_with_a_refuted_claim(command):
    words = "exact --histogram 14,12,10 --worst-neighbor moved --noise laplace:0.3 --claim-rdp 2:0.05 --claim-rdp 3:9"
    claims = {2: 0.05, 3: 9}
    call = {"worst_neighbor": "moved", "noise": "laplace:0.3", "claim_rdp": claims}
    result = same(leakbound.accounting.exact(np.array([14, 12, 10], np.uint8), **call), command(*words.split()))
    assert result.refuted and [claim.refuted for claim in result.claims] == [True, False]


def test_exact_behind_a_threshold(command):
    words = "exact --histogram 140,50 --neighbor 139,51 --noise gaussian:4 --threshold 120 --threshold-noise gaussian:9"
    call = {"noise": "gaussian:4", "threshold": 120, "threshold_noise": "gaussian:9", "threshold_form": "per-class"}
    words += " --threshold-form per-class"
    same(leakbound.accounting.exact([140, 50], [139, 51], **call), command(*words.split()))


def test_exact_of_mechanisms(command):
    words = "exact --mechanism exponential:sigma=2 --histogram 3,1,4,1,5 --worst-neighbor moved --deltas 1e-5,0.1"
    call = {"mechanism": "exponential:sigma=2", "worst_neighbor": "moved", "deltas": [1e-5, 0.1]}
    same(leakbound.accounting.exact([3, 1, 4, 1, 5], **call), command(*words.split()))
    number = same(leakbound.accounting.exact(mechanism="gaussian:sigma=2"), command(*"exact --mechanism gaussian:sigma=2".split()))
    assert number.binned and number.histogram == "0" and number.noise is None
    # D = α / (2 σ²)
    for row in number.divergences:
        assert 0.98 * row.order / 8 < row.forward <= row.order / 8 * (1 + 1e-9)


def test_audit_counts(command):
    words = command(
        "audit", "counts", COUNTS, "--methods", "all", "--resamples", 100, "--trade-off", "--orders", "2..4"
    )
    call = {"methods": "all", "resamples": 100, "trade_off": True, "orders": range(2, 5)}
    same(leakbound.audit.counts(COUNTS, **call), words, inputs=True)
    table = np.loadtxt(COUNTS, delimiter=",", skiprows=1, dtype=np.int64).T
    same(leakbound.audit.counts(table[1], table[2], outcomes=table[0], **call), words, inputs=True)


def test_audit_counts_of_several_queries_with_a_distribution(command, tmp_path):
    counts, neighbor = np.array([[600, 400], [90, 910]]), np.array([[500, 500], [100, 900]])
    p, q = np.array([[0.6, 0.4], [0.1, 0.9]]), np.array([[0.5, 0.5], [0.1, 0.9]])
    rows = [f"{i},{'ab'[j]},{counts[i, j]},{neighbor[i, j]}" for i in range(2) for j in range(2)]
    distributions = [f"{i},{'ab'[j]},{p[i, j]},{q[i, j]}" for i in range(2) for j in range(2)]
    (tmp_path / "counts.csv").write_text("\n".join(["query,outcome,count,count_neighbor", *rows, ""]))
    (tmp_path / "distribution.csv").write_text("\n".join(["query,outcome,p,q", *distributions, ""]))
    words = ("audit", "counts", tmp_path / "counts.csv", "--distribution", tmp_path / "distribution.csv", "--seed", 5)
    same(leakbound.audit.counts(counts, neighbor, outcomes="ab", distribution=(p, q), seed=5), command(*words))


def test_audit_confusion(command):
    words = "audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --delta 0.001 --epsilons 0.5"
    same(leakbound.audit.confusion(tp=90, fn=10, fp=5, tn=95, delta=1e-3, epsilons=0.5), command(*words.split()))


def test_audit_votes(command):
    words = f"audit votes {VOTES} --model pate --noise gaussian:40 --samples 1e5 --queries 18,42 --orders 2,3"
    call = {"model": "pate", "noise": "gaussian:40", "samples": 1e5, "queries": [18, 42], "orders": [2, 3]}
    text = command(*words.split())
    same(leakbound.audit.votes(VOTES, **call), text, inputs=True)
    same(leakbound.audit.votes(np.load(VOTES), **call), text)


def test_audit_votes_of_every_model(command):
    for model, file in (("prompt-pate", PROMPT), ("capc", VOTES), ("private-knn", KNN)):
        queries = {"prompt-pate": [0, 3], "capc": [18], "private-knn": [3]}[model]
        words = ["audit", "votes", file, "--model", model, "--noise", "gaussian:30", "--samples", 20000, "--orders", 2]
        words += ["--queries", ",".join(map(str, queries)), "--claim-rdp", "2:1e-9", "--sampling", "exact-distribution"]
        call = {
            "model": model,
            "noise": "gaussian:30",
            "samples": 20_000,
            "orders": 2,
            "queries": queries,
            "sampling": "exact-distribution",
        }
        same(leakbound.audit.votes(dict(np.load(file)), **call, claim_rdp={2: 1e-9}), command(*words))


def test_canary_scores(command, tmp_path, random):
    inside, outside = random.normal(1, 1, 300), random.normal(0, 1, 250).astype(np.float32)
    np.save(tmp_path / "in.npy", inside)
    np.save(tmp_path / "out.npy", outside)
    words = ("audit", "scores", "--members", tmp_path / "in.npy", "--non-members", tmp_path / "out.npy")
    scores = leakbound.canaries.CanaryScores(inside, outside)
    same(scores.audit(epsilons=[0.1, 1]), command(*words, "--epsilons", "0.1,1"), inputs=True)
    for selection in ("split", "multi-split", "uniform", "naive"):
        text = command(*words, "--selection", selection, "--delta", "1e-4", "--seed", 9)
        same(scores.epsilon(selection=selection, delta=1e-4, seed=9), text, inputs=True)
    same(scores.mu(threshold=-0.25), command(*words, "--threshold=-0.25"))
    same(scores.epsilon_one_run(guesses=(40, 30)), command(*words, "--one-run", "--guesses", "40,30"))
    same(
        scores.epsilon_one_run(guess_selection="paid-for"),
        command(*words, "--one-run", "--guess-selection", "paid-for"),
    )
    flipped = leakbound.canaries.CanaryScores(tmp_path / "in.npy", str(tmp_path / "out.npy"), flip=True)
    same(flipped.epsilon(), command(*words, "--flip"), inputs=True)


ATTACKS = [
    (leakbound.membership.lira, "lira", {"variant": "carlini-2022", "victims": [0, 5], "fpr": [0.001, 0.1]}),
    (leakbound.membership.lira, "lira", {"mode": "offline", "variance": "pooled", "per_class": True, "top": [3, 20]}),
    (leakbound.membership.label_only, "label-only", {"strength": 0.5}),
    (leakbound.membership.threshold, "threshold", {"score": "modified-entropy", "level": "population"}),
    (leakbound.membership.rmia, "rmia", {"mode": "offline", "slope": 0.3, "gamma": 1.5}),
    (leakbound.membership.risk, "risk", {"bins": 10}),
    (leakbound.membership.attacker, "attacker", {"seed": 1}),
    (leakbound.membership.compare, "compare", {"attacks": ["lira", "threshold"]}),
]


@pytest.mark.parametrize(("attack", "name", "options"), ATTACKS)
def test_membership(command, attack, name, options):
    words = ["membership", name, LIRA, "--resamples", 100]
    for key, value in options.items():
        words.append("--" + key.replace("_", "-"))
        if value is not True:
            words.append(",".join(map(str, value)) if isinstance(value, list) else value)
    text = command(*words)
    same(attack(LIRA, resamples=100, **options), text, inputs=True)
    recorded = np.load(LIRA)
    same(attack(recorded["logits"], recorded["labels"], recorded["keep"], resamples=100, **options), text)


def test_membership_of_scores_and_of_several_files(command, tmp_path, random):
    keep = random.permuted(np.tile(np.arange(12) % 2 == 0, (30, 1)), axis=1).T
    scores = (random.normal(size=(12, 30)) + keep)[:, :, None]
    np.save(tmp_path / "scores.npy", scores)
    np.save(tmp_path / "keep.npy", keep)
    words = ("membership", "lira", "--scores", tmp_path / "scores.npy", "--keep", tmp_path / "keep.npy")
    text = command(*words, "--resamples", 0)
    same(leakbound.membership.lira(scores=scores, keep=keep, resamples=0), text)
    # One view may be left out, and the recording may come as a dict or as several files.
    same(leakbound.membership.lira({"scores": scores[:, :, 0], "keep": keep}, resamples=0), text)
    halves = []
    for half in range(2):
        halves.append(tmp_path / f"half{half}.npz")
        np.savez(halves[half], scores=scores[6 * half : 6 * half + 6], keep=keep[6 * half : 6 * half + 6])
    same(leakbound.membership.lira(halves, resamples=0), command("membership", "lira", *halves, "--resamples", 0), inputs=True)


def test_memorization_and_property_distance(command, tmp_path, random):
    true = random.integers(0, 5, 200)
    canaries = {"probabilities": random.dirichlet(np.ones(5), 200), "labels_true": true}
    canaries["labels_trained"] = (true + random.integers(1, 5, 200)) % 5
    np.savez(tmp_path / "canaries.npz", **canaries)
    words = ("label-dp", "memorization", tmp_path / "canaries.npz")
    same(leakbound.membership.memorization(canaries, threshold=0.4), command(*words, "--threshold", 0.4))
    answers = {"student": random.dirichlet(np.ones(3), 20), "ensembles": random.dirichlet(np.ones(3), (2, 4, 20))}
    np.savez(tmp_path / "answers.npz", **answers)
    words = ("property", "distance", tmp_path / "answers.npz", "--permutations", 99)
    same(leakbound.membership.property_distance(answers, permutations=99), command(*words))


def test_simulation_and_merge(command, scenarios, tmp_path):
    scenario = scenarios / "pate.toml"
    simulation = leakbound.simulate.Simulation(scenario)
    same(simulation.run(samples=1e5), command("simulate", scenario, "--samples", "1e5"), inputs=True)
    in_memory = leakbound.simulate.Simulation(scenario.read_bytes()).run(samples=1e5, seed=3)
    text = command("simulate", scenario, "--samples", "1e5", "--seed", 3)
    same(in_memory, text, inputs=True)
    parts = []
    for index in (1, 2):
        parts.append(tmp_path / f"{index}.json")
        parts[-1].write_text(command("simulate", scenario, "--samples", "3e5", "--shard", f"{index}/2"))
    text = command("merge", *parts)
    same(leakbound.simulate.merge(parts), text, inputs=True)
    merged = leakbound.simulate.merge([simulation.run(samples=3e5, shard=(index, 2)) for index in (1, 2)])
    assert digits(merged.to_json())["queries"] == digits(text)["queries"]
    assert merged.queries == simulation.run(samples=3e5, threads=1).queries


def test_counts_of_a_simulation_are_audited_as_they_are(command, scenarios, tmp_path):
    text = command("simulate", scenarios / "prompt-pate.toml", "--samples", "2e5", "--no-distribution")
    (tmp_path / "counts.json").write_text(text)
    counts = leakbound.simulate.Simulation(scenarios / "prompt-pate.toml").run(samples=2e5, no_distribution=True)
    same(leakbound.audit.counts(counts, orders=2), command("audit", "counts", tmp_path / "counts.json", "--orders", 2))


def test_scenario_as_a_dict(command, tmp_path):
    scenario = {"model": "prompt-pate", "noise": "gaussian:40", "composition": "independent", "seed": 4}
    scenario["query"] = [{"name": 'a "b" \\ ü', "histogram": np.array([5, 3]), "histogram_neighbor": [4, 4]}]
    toml = 'model = "prompt-pate"\nnoise = "gaussian:40"\ncomposition = "independent"\nseed = 4\n[[query]]\n'
    toml += 'name = "a \\"b\\" \\\\ ü"\nhistogram = [5, 3]\nhistogram_neighbor = [4, 4]\n'
    (tmp_path / "scenario.toml").write_text(toml, encoding="utf-8")
    expected = digits(command("simulate", tmp_path / "scenario.toml", "--samples", 70000))
    found = digits(leakbound.simulate.Simulation(scenario).run(samples=70_000).to_json())
    assert found["queries"] == expected["queries"] and found["distributions"] == expected["distributions"]


def test_account(command, scenarios):
    words = [
        "account",
        VOTES,
        "--noise",
        "gaussian:40",
        "--queries",
        "1,2,3",
        "--budget",
        "0.1,1",
        "--composition",
        "pld",
    ]
    call = {"noise": "gaussian:40", "queries": [1, 2, 3], "budget": [0.1, 1], "composition": "pld"}
    text = command(*words)
    same(leakbound.accounting.account(VOTES, **call), text, inputs=True)
    same(leakbound.accounting.account(dict(np.load(VOTES)), **call), text)
    scenario = scenarios / "prompt-pate.toml"
    text = command("account", scenario, "--delta", "1e-6", "--conversion", "classic")
    same(leakbound.accounting.account(scenario, delta=1e-6, conversion="classic"), text, inputs=True)
    same(leakbound.accounting.account(scenario.read_bytes(), delta=1e-6, conversion="classic"), text, inputs=True)


def test_account_of_releases(command, tmp_path):
    releases = tmp_path / "releases.toml"
    releases.write_text("[[release]]\nmechanism = 'laplace:sigma=4'\ntimes = 8\n")
    text = command("account", releases, "--composition", "pld")
    same(leakbound.accounting.account(releases, composition="pld"), text, inputs=True)
    call = {"release": [{"mechanism": "laplace:sigma=4", "times": 8}]}
    same(leakbound.accounting.account(call, composition="pld"), text)


def test_calibrate(command):
    text = command("calibrate", "--mechanism", "subsampled-gaussian:sigma=?,rate=0.02", "--times", "50", "--tpr", "0.2", "--fpr", "0.1")
    same(leakbound.accounting.calibrate("subsampled-gaussian:sigma=?,rate=0.02", times=50, tpr=0.2, fpr=0.1), text)
    text = command("calibrate", "--mechanism", "randomized-response:sigma=?", "--histogram", "1,0,0", "--epsilon", "1", "--delta", "0")
    found = leakbound.accounting.calibrate("randomized-response:sigma=?", histogram=[1, 0, 0], epsilon=1, delta=0)
    same(found, text)
    assert 1 <= found.scale < 1.001


def test_account_of_events(command, tmp_path):
    """What the library itself writes of its events, and its own pessimistic epsilon at least at the lower end."""
    dp_event = pytest.importorskip("dp_accounting").dp_event
    pld = pytest.importorskip("dp_accounting.pld.pld_privacy_accountant")
    step = dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(0.8))
    event = dp_event.ComposedDpEvent([dp_event.SelfComposedDpEvent(step, 1000), dp_event.LaplaceDpEvent(20.0)])
    events = tmp_path / "events.json"
    events.write_text(json.dumps(event.to_named_tuple()))
    found = same(
        leakbound.accounting.account(events, composition="pld"), command("account", events, "--composition", "pld"), inputs=True
    )
    epsilon = pld.PLDAccountant().compose(event).get_epsilon(1e-5)
    assert found.losses.epsilon.lower <= epsilon <= 1.05 * found.losses.epsilon.upper


def test_history_does_not_matter(command, scenarios):
    """Nothing that was computed for one document may show in the digits of another."""
    call = {"model": "pate", "noise": "gaussian:40", "samples": 1e4, "queries": [18], "orders": [2, 3]}
    leakbound.audit.votes(VOTES, **call)
    scenario = scenarios / "prompt-pate.toml"
    same(leakbound.accounting.account(scenario), command("account", scenario))


def test_audit_stream(command, tmp_path, random):
    outputs, worlds = random.integers(0, 2, 400), random.integers(0, 2, 400).astype(bool)
    outputs[worlds] = 0
    lines = [f"{'s_prime' if world else 's'},{output}" for world, output in zip(worlds, outputs)]
    (tmp_path / "stream.csv").write_text("\n".join(["world,output", *lines, ""]))
    text = command("audit", "stream", tmp_path / "stream.csv", "--claim-rdp", "2:0.05")
    result = same(leakbound.audit.stream(outputs, worlds, claim_rdp={2: 0.05}), text, inputs=True)
    assert result.refuted
    # From the state that is left on, the second half gives what the whole gives.
    for half in (slice(0, 200), slice(200, 400)):
        resumed = leakbound.audit.stream(outputs[half], worlds[half], state=tmp_path / "state")
    assert resumed.bounds == leakbound.audit.stream(tmp_path / "stream.csv").bounds
    assert "</html>" in resumed.to_html()


def test_audit_mechanism_of_a_program(command, tmp_path):
    program = f"{shlex.quote(sys.executable)} validation/zoo/laplace.py wrong-sensitivity"
    words = ["audit", "mechanism", "--relation", "add-remove", "--runs", 4000, "--claim-epsilon", 1, "--delta", 0]
    call = {"relation": "add-remove", "runs": 4000, "claim_epsilon": 1, "delta": 0}
    text = command(*words, "--program", program, "--dataset", "[0, 5]")
    result = same(leakbound.audit.mechanism(program=program, dataset=np.array([0, 5]), **call), text)
    assert result.refuted and "</html>" in result.to_html()
    pairs = [([0], []), ([0, 5], [0])]
    rows = [{"dataset": dataset, "neighbor": neighbor} for dataset, neighbor in pairs]
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    text = command(*words, "--program", program, "--pairs", tmp_path / "pairs.json")
    same(leakbound.audit.mechanism(program=program, pairs=pairs, **call), text, inputs=True)


def test_self_check(command, tmp_path, random):
    words = ("self-check", "audit", "counts", COUNTS, "--orders", 2, "--repetitions", 20)
    same(leakbound.audit.self_check(COUNTS, orders=2, repetitions=20), command(*words), inputs=True)
    inside, outside = random.normal(1, 1, 80), random.normal(0, 1, 80)
    np.save(tmp_path / "in.npy", inside)
    np.save(tmp_path / "out.npy", outside)
    words = ("self-check", "audit", "scores", "--members", tmp_path / "in.npy", "--non-members", tmp_path / "out.npy")
    scores = leakbound.canaries.CanaryScores(inside, outside)
    same(leakbound.audit.self_check(scores, repetitions=10), command(*words, "--repetitions", 10), inputs=True)


def test_verify_by_name(command):
    words = "verify --accountant broken:gnmax-half --cases 30 --property rdp-covers-exact,composition-adds"
    call = {"cases": 30, "property": ["rdp-covers-exact", "composition-adds"]}
    result = same(leakbound.accounting.verify("broken:gnmax-half", **call), command(*words.split()))
    case = result.counterexamples[0].case
    again = leakbound.accounting.verify("broken:gnmax-half", property="rdp-covers-exact", case=case.to_dict())
    assert again.refuted


def test_bench(command):
    found = leakbound.simulate.bench(work="fixed", seconds=0.01)
    expected = digits(command("bench", "--work", "fixed", "--seconds", 0.01))
    assert [(row.work, row.unit) for row in found.rows] == [(row["work"], row["unit"]) for row in expected["rows"]]


def test_page(command, tmp_path):
    page = tmp_path / "page.html"
    words = ("exact", "--histogram", "5,3", "--neighbor", "4,4", "--noise", "gaussian:2", "--report", page)
    command(*words)
    # Pages may tell when they were made, so what is compared is what a reader sees of the numbers.
    html = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2").to_html()
    assert html.count("<table") == page.read_text().count("<table") > 0


# What a call is given otherwise: forms of the output, and the results of other parameters.
ELSEWHERE = {"format", "output", "report", "figures", "quiet", "no-color", "help", "version"}
SIGNATURES = [
    ("exact", [leakbound.accounting.exact], set()),
    ("audit counts", [leakbound.audit.counts], set()),
    ("audit confusion", [leakbound.audit.confusion], set()),
    ("audit votes", [leakbound.audit.votes], set()),
    ("audit stream", [leakbound.audit.stream], set()),
    ("audit mechanism", [leakbound.audit.mechanism], set()),
    (
        "audit scores",
        [leakbound.canaries.CanaryScores, leakbound.canaries.CanaryScores.audit, leakbound.canaries.CanaryScores.epsilon_one_run],
        {"one-run"},
    ),
    ("membership lira", [leakbound.membership.lira], set()),
    ("membership label-only", [leakbound.membership.label_only], set()),
    ("membership threshold", [leakbound.membership.threshold], set()),
    ("membership rmia", [leakbound.membership.rmia], set()),
    ("membership risk", [leakbound.membership.risk], set()),
    ("membership attacker", [leakbound.membership.attacker], set()),
    ("membership compare", [leakbound.membership.compare], set()),
    ("label-dp memorization", [leakbound.membership.memorization], set()),
    ("property distance", [leakbound.membership.property_distance], set()),
    ("simulate", [leakbound.simulate.Simulation.run], set()),
    ("merge", [leakbound.simulate.merge], {"seed"}),
    ("account", [leakbound.accounting.account], set()),
    ("calibrate", [leakbound.accounting.calibrate], set()),
    ("verify", [leakbound.accounting.verify], {"program"}),
    ("self-check audit counts", [leakbound.audit.self_check], set()),
    ("self-check audit scores", [leakbound.audit.self_check], {"members", "non-members"}),
    ("bench", [leakbound.simulate.bench], {"seed", "sweep", "vary"}),
]


# Where the default depends on the data: a scenario has a seed of its own.
DEPENDS = {("simulate", "seed")}
# Of these options the command has no list of possible values, and says in words which ones there are.
IN_WORDS = {
    "adversary", "candidates", "composition", "conversion", "failure-per", "score", "threshold-form", "variant",
    "worst-neighbor",
}  # fmt: skip


def options_of(help_text):
    """The text of each option of a command."""
    listed = help_text.split("\nExample")[0]
    parts = re.split(r"^ +(?:-., )?--([a-z-]+)", listed, flags=re.M)[1:]
    return {name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2])}


def same_value(value, text):
    """Whether a default of Python is what the command has as its default, digit for digit or as a number."""
    try:
        numbers = value if isinstance(value, tuple) else [value]
        return [float(number) for number in numbers] == [float(part) for part in text.split(",")]
    except ValueError:
        return value == text


@pytest.mark.parametrize(("words", "functions", "without"), SIGNATURES)
def test_every_option_is_a_parameter(command, words, functions, without):
    options = options_of(command(*words.split(), "--help"))
    options = {name: text for name, text in options.items() if name not in ELSEWHERE | without}
    parameters = {name: one for function in functions for name, one in inspect.signature(function).parameters.items()}
    missing = {option for option in options if option.replace("-", "_") not in parameters}
    assert not missing and len(options) >= 2


@pytest.mark.parametrize(("words", "functions", "without"), SIGNATURES)
def test_defaults_and_choices_are_those_of_the_command(command, words, functions, without):
    options = options_of(command(*words.split(), "--help"))
    described = json.loads(command("schema", *words.split()))["commands"][0]["options"]
    defaults = {item["name"]: item["default"] for item in described}
    found = 0
    for function in functions:
        types = typing.get_type_hints(function.__init__ if isinstance(function, type) else function)
        for name, parameter in inspect.signature(function).parameters.items():
            option = name.replace("_", "-")
            text = options.get(option)
            if text is None or option in without:
                continue
            if defaults[name] is None or (words, name) in DEPENDS:
                # An option without a value is off, one without a default is not given or said in its help.
                absent = (None, False, inspect.Parameter.empty)
                said = re.search(r"\[default: ([^]]*)\]", text)
                given = any(parameter.default is value for value in absent)
                assert given or (said and same_value(parameter.default, said[1])), f"{name}: {parameter.default}"
            else:
                assert same_value(parameter.default, defaults[name]), f"{name}: {parameter.default}, {defaults[name]}"
                found += 1
            choices = choices_of(types[name])
            possible = re.search(r"\[possible values: ([^]]*)\]", text)
            listed = possible[1].split(", ") if possible else re.findall(r"(?<= )- ([a-z0-9-]+):", text)
            if listed and ",...>" not in text.split()[0]:
                assert set(choices) == set(listed), name
                found += 1
            elif choices:
                assert option in IN_WORDS and all(re.search(rf"\b{choice}\b", text) for choice in choices), name
    assert found >= 1 or words == "merge"


def choices_of(kind):
    """The choices of a parameter's type."""
    if typing.get_origin(kind) is typing.Literal:
        return typing.get_args(kind)
    return tuple(choice for part in typing.get_args(kind) for choice in choices_of(part))


def test_the_defaults_of_the_command_may_be_given():
    # A threshold excludes a selection, and a selection that is the default is none.
    scores = leakbound.canaries.CanaryScores(np.arange(20.0), np.arange(20.0) - 5)
    assert scores.epsilon(threshold=3.0, selection="uniform").epsilon_lower >= 0
    plain = leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2")
    every = {"orders": (2, 4, 8, 16, 32, 64), "delta": 1e-5, "seed": 0, "threshold_form": "max", "worst_neighbor": None}
    assert leakbound.accounting.exact([5, 3], [4, 4], noise="gaussian:2", **every).to_json() == plain.to_json()
