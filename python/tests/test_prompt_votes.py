"""Votes of prompts, with small functions in the place of a language model."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import leakbound
from leakbound import InputError, UsageError

pytestmark = pytest.mark.filterwarnings("ignore::leakbound.LeakboundWarning")

LABELS = ["red", "green", "blue"]
EXAMPLES = [(f"thing {number}", number % 3) for number in range(12)]
QUERIES = [(f"query {number}", LABELS[number % 2]) for number in range(6)]


def model(prompt):
    """Obeys an instruction, believes an example of the same text, and otherwise answers by the sum of the numbers."""
    if (always := re.search(r"answer (\d) and follow", prompt)) is not None:
        return always[1]
    (shown, label), query = re.findall(r"Text: (.*)\nAnswer: (\d)", prompt)[0], prompt.rsplit("Text: ", 1)[1]
    query = query.removesuffix("\nAnswer:")
    if shown == query:
        return f"It is {label}."
    return LABELS[(int(shown.split()[1]) + int(query.split()[1])) // 4 % 3]


def votes(adversary="pois-advq", answer=model, **options):
    return leakbound.prompts.prompt_votes(answer, EXAMPLES, QUERIES, labels=LABELS, adversary=adversary, **options)


def expected():
    return np.array([[(example + query) // 4 % 3 for example in range(12)] for query in range(6)])


def test_adversaries_who_choose_the_query_flip_one_vote():
    for adversary, right in (("nat-advq", True), ("pois-advq", False)):
        found = votes(adversary)
        assert (found.votes == expected()).all() and found.query_label.tolist() == [0, 1, 0, 1, 0, 1]
        for query, teacher in enumerate(found.changed_teacher):
            label = found.query_label[query]
            before, after = found.votes[query, teacher], found.votes_prime[query, teacher]
            # The first teacher that is wrong is made right, or the other way around.
            assert ((before == label), (after == label)) == (not right, right)
            assert teacher == np.argmax((found.votes[query] == label) != right)
            others = np.arange(12) != teacher
            assert (found.votes[query, others] == found.votes_prime[query, others]).all()


def test_adversaries_of_natural_queries_change_one_teacher():
    same = votes("all-same", always="blue")
    assert (same.votes_prime[:, 0] == 2).all() and (same.votes_prime[:, 1:] == same.votes[:, 1:]).all()
    for adversary in ("confident", "unconfident", "mapping"):
        found = votes(adversary)
        teacher = found.changed_teacher[0]
        assert (found.changed_teacher == teacher).all()
        others = np.arange(12) != teacher
        assert (found.votes[:, others] == found.votes_prime[:, others]).all()
        assert (found.votes[:, teacher] != found.votes_prime[:, teacher]).any()


def test_prompts_are_the_template():
    seen = []
    template = leakbound.prompts.PromptTemplate(
        task="{classes}|{numbers}|", always="only {label}|", example="{text}={label}|", query="{text}?"
    )

    def answer(prompt):
        seen.append(prompt)
        return "0"

    examples, queries = [("{text}", 1), ("b", 0)], [("q", 0), ("r", 1)]
    call = {"labels": ["no", "yes"], "template": template}
    leakbound.prompts.prompt_votes(answer, examples, queries, adversary="pois-advq", **call)
    head = "0 (no) or 1 (yes)|0, 1|"
    assert seen[:4] == [f"{head}{{text}}=1|q?", f"{head}b=0|q?", f"{head}{{text}}=1|r?", f"{head}b=0|r?"]
    assert seen[4:] == [f"{head}q=1|q?", f"{head}r=0|r?"]
    seen.clear()
    leakbound.prompts.prompt_votes(answer, examples, queries, adversary="mapping", **call)
    assert seen[4:] == ["1 (no) or 0 (yes)|0, 1|q=1|q?", "1 (no) or 0 (yes)|0, 1|q=1|r?"]
    seen.clear()
    leakbound.prompts.prompt_votes(answer, examples, queries, adversary="all-same", always="yes", **call)
    assert seen[4:] == ["only 1|q?", "only 1|r?"]


def test_what_is_saved_is_audited(tmp_path):
    found = votes()
    file = tmp_path / "votes.npz"
    found.save(file)
    call = {"model": "prompt-pate", "noise": "gaussian:2", "samples": 1e4, "orders": 2}
    direct = leakbound.audit.votes(found, **call)
    saved = leakbound.audit.votes(file, **call)
    assert [query.exact[0].forward for query in direct.queries] == [query.exact[0].forward for query in saved.queries]
    # Each query has a neighbor of its own.
    assert direct.to_dict()["composed"] is None
    assert saved.to_dict()["composed"] is None
    assert leakbound.audit.votes(votes("all-same"), **call).to_dict()["composed"] is not None
    # The worst query again and again.
    worst = found.audit("gaussian:2", samples=1e4, orders=2)
    assert worst.to_dict()["options"]["n_queries"] == 6
    assert votes("all-same").audit("gaussian:2", samples=1e4).to_dict()["options"].get("n_queries") is None


def test_answers_are_kept_and_a_crash_costs_one(tmp_path):
    cache, calls = tmp_path / "answers.jsonl", []

    def failing(prompt):
        if len(calls) == 20:
            raise ConnectionError("the service is gone")
        calls.append(prompt)
        return model(prompt)

    with pytest.raises(ConnectionError, match="gone"):
        votes(answer=failing, cache=cache)
    # The process ended while it was writing a line.
    with cache.open("a") as file:
        file.write('{"prompt": "01')
    done = []

    def counting(prompt):
        calls.append(prompt)
        return model(prompt)

    found = votes(answer=counting, cache=cache, progress=lambda *step: done.append(step))
    assert len(calls) == len(set(calls)) == 12 * 6 + 6
    assert found.asked == 12 * 6 + 6 - 20 and done[0] == (20, 72, "prompts") and done[-1] == (6, 6, "prompts")
    lines = [json.loads(line) for line in cache.read_text().splitlines()]
    assert len(lines) == 78 and len({line["prompt"] for line in lines}) == 78

    def nobody(prompt):
        raise AssertionError(prompt)

    again = votes(answer=nobody, cache=cache)
    fresh = votes()
    for name in fresh:
        assert (again[name] == found[name]).all() and (found[name] == fresh[name]).all()


def test_batches_give_the_same():
    sizes = []

    def several(prompts):
        sizes.append(len(prompts))
        return [model(prompt) for prompt in prompts]

    found, one = votes(answer=several, batch=10), votes()
    assert sizes == [10] * 7 + [2] + [6]
    assert all((found[name] == one[name]).all() for name in one)


def test_answers_without_a_label_are_counted_or_rejected():
    def silent(prompt):
        return "I cannot say" if prompt.endswith("query 3\nAnswer:") else model(prompt)

    with pytest.raises(InputError, match=r"answer: found 'I cannot say', expected a number from 0 to 2 or the name"):
        votes(answer=silent)
    found = votes(answer=silent, fallback="blue")
    assert found.unparsed == (12, 1) and (found.votes[3] == 2).all()
    assert votes().unparsed == (0, 0)


def test_examples_are_drawn_by_the_seed():
    one, again, other = votes(teachers=5, seed=1), votes(teachers=5, seed=1), votes(teachers=5, seed=2)
    assert one.votes.shape == (6, 5) and (one.votes == again.votes).all()
    # Five of twelve examples are the same for both seeds with probability 1/792; the seeds are fixed.
    assert (one.votes != other.votes).any()


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({"answer": 3}, InputError, "answer: found int, expected a function"),
        ({"answer": lambda prompt: 1}, InputError, "answer: found int, expected a text"),
        (
            {"answer": lambda prompts: ["1"], "batch": 4},
            InputError,
            "answer: found 1 texts, expected one for each of 4",
        ),
        ({"answer": lambda prompts: "1234", "batch": 4}, InputError, "answer: found str, expected a list of 4 texts"),
        ({"batch": 0}, UsageError, "batch: found 0"),
        ({"adversary": "cats"}, UsageError, "adversary: found 'cats', expected one of nat-advq, pois-advq"),
        ({"adversary": "all-same", "always": 3}, InputError, "always: found 3, expected a number from 0 to 2"),
        ({"fallback": "pink"}, InputError, "fallback: found 'pink'"),
        ({"teachers": 13}, InputError, "teachers: found 13, expected at most one for each of 12 examples"),
        ({"teachers": 0}, UsageError, "teachers: found 0"),
        ({"parse": lambda text, labels: 7}, InputError, "parse: found 7, expected a class from 0 to 2 or None"),
        ({"progress": 3}, UsageError, "progress: found int"),
    ],
)
def test_bad_arguments_end_with_one_sentence(options, kind, sentence):
    with pytest.raises(kind, match=sentence) as error:
        votes(**{"answer": model, **options})
    assert "\n" not in str(error.value)


def test_bad_data_end_with_one_sentence(tmp_path):
    def call(examples=EXAMPLES, queries=QUERIES, labels=LABELS, **options):
        with pytest.raises(InputError) as error:
            leakbound.prompts.prompt_votes(model, examples, queries, labels=labels, **options)
        return str(error.value)

    assert call(examples=[("a", "pink")]).startswith("examples[0]: found 'pink', expected a number from 0 to 2")
    assert call(queries=[("a", 0), "b"]).startswith("queries[1]: found 'b', expected a text and its label")
    assert call(queries=[]).startswith("queries: found none")
    assert call(labels=["a"]).startswith("labels: found 1")
    assert call(labels=["a", "A"]).startswith("labels: found a name twice")
    other = tmp_path / "other.txt"
    for text in ("a poem", "a poem\n", '{"prompt": 1, "answer": "x"}\n'):
        other.write_text(text)
        assert ": line 1: found another" in call(cache=other)
        assert other.read_text() == text
    assert call(cache=tmp_path / "no" / "folder.jsonl").startswith("cache: ")


def test_labels_are_read_from_answers():
    read = lambda text: leakbound.prompts.first_label(text, ["World", "Sports", "New York"])
    assert [read(text) for text in ("1", "label: 2.", "10 or 2", "sports, not world", "in new york", "v1", "1.5", "")] == [
        1, 2, 2, 1, 2, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize("adversary", ["nat-advq", "pois-advq", "confident", "unconfident", "all-same", "mapping"])
def test_a_recorded_transformer_gives_the_recorded_votes(data, adversary):
    """A transformer's answers, looked up: prompts that it was not asked are a KeyError.

    Its mapping shows an example of each class, and the one here shows one; both rename the same classes.
    """
    recorded = dict(np.load(data / "transformer_votes.npz"))
    name = adversary.replace("-", "_")
    queries = {f"image {image}": place for place, image in enumerate(recorded["query_index"])}
    teachers = {f"image {image}": teacher for teacher, image in enumerate(recorded["example_index"][:, 0])}
    labels = recorded["query_label"]
    shown_query, shown_label = (recorded.get(f"{name}_shown_{what}") for what in ("query", "label"))

    def answer(prompt):
        head, query = prompt.rsplit("Text: ", 1)
        query = queries[query.removesuffix("\nAnswer:")]
        example = re.search(r"Text: (.*)\nAnswer: (\d)\n", head)
        if example is not None and example[1] in teachers:
            return str(recorded["votes"][query, teachers[example[1]]])
        if shown_query is not None:
            assert queries[example[1]] == shown_query[query] and int(example[2]) == shown_label[query]
        elif adversary == "all-same":
            assert "answer 1 and follow" in head
        else:
            assert "as 0 (T-shirt)" not in head
        return str(recorded[f"{name}_vote"][query])

    names = ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"]
    found = leakbound.prompts.prompt_votes(
        answer,
        # Labels of private examples say nothing to a table of answers.
        [(text, 0) for text in teachers],
        [(text, int(label)) for text, label in zip(queries, labels)],
        labels=names,
        adversary=adversary,
    )
    assert (found.votes == recorded["votes"]).all() and found.unparsed == (0, 0)
    assert (found.changed_teacher == recorded[f"{name}_teacher"]).all()
    changed = found.votes_prime[np.arange(len(labels)), found.changed_teacher]
    assert (changed == recorded[f"{name}_vote"]).all()
