"""Canaries in a training by real Opacus. Skipped where it is not installed; `cargo xtask validate opacus` installs it."""

from __future__ import annotations

import numpy as np
import pytest

import leakbound

torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")

canaries = leakbound.canaries

pytestmark = pytest.mark.filterwarnings("ignore")


def training(plan, *, noise=1.0, physical=None, **options):
    """An optimizer with canaries, and what makes one step."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 30), torch.nn.Tanh(), torch.nn.Linear(30, 3))
    data = torch.utils.data.TensorDataset(torch.randn(400, 20), torch.randint(3, (400,)))
    model, optimizer, loader = opacus.PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=torch.utils.data.DataLoader(data, batch_size=40),
        noise_multiplier=noise,
        max_grad_norm=0.5,
    )
    watched = canaries.opacus.attach(optimizer, plan, sample_rate=0.1, **options)

    def epoch():
        from opacus.utils.batch_memory_manager import BatchMemoryManager

        with BatchMemoryManager(
            data_loader=loader, max_physical_batch_size=physical or 1000, optimizer=optimizer
        ) as some:
            for inputs, labels in some:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(inputs), labels).backward()
                optimizer.step()

    return watched, epoch, model, optimizer


@pytest.mark.parametrize("physical", [None, 16])
@pytest.mark.parametrize("kind", ["dirac", "signs"])
def test_sums_are_those_of_the_canaries(kind, physical):
    """Without noise worth the name, each step shows which canaries were in it, and nothing of the other records."""
    plan = leakbound.canaries.plan(100, seed=1)
    watched, epoch, _, _ = training(plan, noise=1e-4, kind=kind, physical=physical, sampling_seed=0)
    seen, drawn = [], []
    batch, observe = watched.batch, watched.observe
    watched.batch = lambda: drawn.append(batch()) or drawn[-1]
    watched.observe = lambda sums: seen.append(sums) or observe(sums)
    epoch()
    assert len(seen) == len(drawn) == watched.steps == 10
    for sums, chosen in zip(seen, drawn):
        expected = np.zeros(100)
        expected[chosen] = 1
        assert np.allclose(sums, expected, atol=2e-3), np.abs(sums - expected).max()
    assert not plan.coins[[canary for chosen in drawn for canary in chosen]].tolist().count(False)
    assert watched.seconds > 0


def test_the_noise_is_what_is_claimed():
    watched, epoch, _, optimizer = training(leakbound.canaries.plan(200, seed=1), noise=2.0)
    seen = []
    observe = watched.observe
    watched.observe = lambda sums: seen.append(sums) or observe(sums)
    epoch()
    outside = np.array(seen)[:, ~leakbound.canaries.plan(200, seed=1).coins]
    assert abs(outside.std() / 2 - 1) < 0.1 and watched.noise_multiplier == 2.0


def test_what_cannot_be_attached_is_one_line():
    plan = leakbound.canaries.plan(100, seed=1)
    with pytest.raises(ValueError, match="expected one of PrivacyEngine.make_private"):
        canaries.opacus.attach(torch.optim.SGD([torch.zeros(3, requires_grad=True)], lr=1), plan, sample_rate=0.1)
    optimizer = training(plan)[3]
    with pytest.raises(ValueError, match="found canaries attached to it already"):
        canaries.opacus.attach(optimizer, leakbound.canaries.plan(100, seed=2), sample_rate=0.1)
    with pytest.raises(ValueError, match="found 723 parameters"):
        training(leakbound.canaries.plan(1000, seed=1))


def test_losses_are_scores():
    model = training(leakbound.canaries.plan(100, seed=1))[2]
    chosen = canaries.random_images(50, (20,), classes=3)
    scores = canaries.pytorch.loss_scores(model, chosen, batch=7)
    with torch.no_grad():
        logits = model(torch.as_tensor(chosen.inputs))
    expected = torch.nn.functional.log_softmax(logits, 1)[torch.arange(50), torch.as_tensor(chosen.labels)]
    assert np.allclose(scores, expected.numpy(), atol=1e-6) and model.training
    inserted = chosen.inserted(
        leakbound.canaries.plan(50, seed=0), torch.zeros(4, 20), torch.zeros(4, dtype=torch.int64)
    )
    assert inserted[0].dtype == torch.float32 and inserted[1].dtype == torch.int64

    class Language(torch.nn.Module):
        def forward(self, tokens):
            return torch.nn.functional.one_hot(tokens, 9).float()

    texts = canaries.random_tokens(5, 4, vocabulary=9)
    assert canaries.pytorch.loss_scores(Language(), texts).shape == (5,)


class Recurrent(torch.nn.Module):
    """A small language model: the logits of the token after each one, [text, token, vocabulary]."""

    def __init__(self, vocabulary):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, 32)
        self.cells = torch.nn.GRU(32, 64, batch_first=True)
        self.head = torch.nn.Linear(64, vocabulary)

    def forward(self, tokens):
        return self.head(self.cells(self.embedding(tokens))[0])


def test_texts_that_a_language_model_has_learned_are_seen():
    """Random texts among the training texts of a language model that learns them by heart: losses show their coins, and
    those of the untrained model show none."""
    plan = leakbound.canaries.plan(200, claim_epsilon=1, seed=4, repetitions=20)
    texts = canaries.random_tokens(200, 10, vocabulary=20, seed=1)
    torch.manual_seed(0)
    others = torch.randint(20, (50, 1)) + torch.arange(10) * torch.randint(1, 3, (50, 1))
    (tokens,) = texts.inserted(plan, others % 20)
    model = Recurrent(20)
    before = canaries.pytorch.loss_scores(model, texts)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(120):
        optimizer.zero_grad()
        logits = model(tokens[:, :-1])
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
    audit = plan.audit(canaries.pytorch.loss_scores(model, texts))
    print(audit)
    assert audit.refuted and audit.epsilon_lower > 1.5
    untrained = leakbound.canaries.plan(200, claim_epsilon=1, seed=5, repetitions=20).audit(before)
    assert untrained.epsilon_lower < 0.5 and not untrained.refuted
