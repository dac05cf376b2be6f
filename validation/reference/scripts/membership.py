"""Scores of membership attacks by their formulas, written out with numpy and scipy: membership.json.

Conventions of other people's code are re-stated from its documentation and source as of 2026; what that code itself
printed is in peers/membership.json.
"""
import json
from pathlib import Path

import numpy as np
from scipy.stats import multivariate_normal, norm

RESOLUTION = 2.0**-23


def floor(x, a, b=0.0):
    return (RESOLUTION * max(abs(x), abs(a), abs(b))) ** 2


def sides(keep, victim, sample, shadows):
    models = [m for m in shadows if m != victim]
    return [[m for m in models if keep[m, sample] == member] for member in (False, True)]


def default(scores, keep, victims, shadows, offline, pooled):
    out = np.zeros((len(victims), scores.shape[1]))
    for row, victim in enumerate(victims):
        sums, freedom = [0.0, 0.0], [0, 0]
        for sample in range(scores.shape[1]):
            for i, side in enumerate(sides(keep, victim, sample, shadows)):
                if side:
                    sums[i] += ((scores[side, sample] - scores[side, sample].mean(0)) ** 2).sum()
                    freedom[i] += (len(side) - 1) * scores.shape[2]
        for sample in range(scores.shape[1]):
            o, i = (scores[side, sample] for side in sides(keep, victim, sample, shadows))
            if len(o) < 2 or len(i) < 2:
                out[row, sample] = scores.shape[2] * np.log(2) if offline else 0.0
                assert not pooled
                continue
            for view, x in enumerate(scores[victim, sample]):
                a, b = o[:, view], i[:, view]
                v = sums[0] / freedom[0] if pooled else a.var(ddof=1)
                w = sums[1] / freedom[1] if pooled else b.var(ddof=1)
                v, w = max(v, floor(x, a.mean(), b.mean())), max(w, floor(x, a.mean(), b.mean()))
                if offline:
                    out[row, sample] -= norm.logsf(x, a.mean(), np.sqrt(v))
                else:
                    out[row, sample] += norm.logpdf(x, b.mean(), np.sqrt(w)) - norm.logpdf(x, a.mean(), np.sqrt(v))
    return out


def shrunk(values):
    n, p = values.shape
    s = np.cov(values.T, bias=True).reshape(p, p)
    t, q = np.trace(s), np.trace(s @ s)
    rho = ((1 - 2 / p) * q + t * t) / ((n + 1 - 2 / p) * (q - t * t / p))
    rho = min(1.0, rho)
    return (1 - rho) * s + rho * t / p * np.eye(p)


def multivariate(scores, keep):
    out = np.zeros(scores.shape[:2])
    for victim in range(scores.shape[0]):
        for sample in range(scores.shape[1]):
            o, i = (scores[side, sample] for side in sides(keep, victim, sample, range(len(keep))))
            x = scores[victim, sample]
            log = [multivariate_normal(s.mean(0), shrunk(s)).logpdf(x) for s in (o, i)]
            out[victim, sample] = log[1] - log[0]
    return out


def named(scores, keep, victims, shadows, variant, offline, pooled):
    median = variant in ("carlini-2022", "tf-amia")
    center = (lambda a: np.median(a, 0)) if median else (lambda a: a.mean(0))
    ddof = 1 if variant == "aerni-2024" else 0
    out = np.zeros((len(victims), scores.shape[1]))
    for row, victim in enumerate(victims):
        pairs = [[scores[s, j] for s in sides(keep, victim, j, shadows)] for j in range(scores.shape[1])]
        if variant == "carlini-2022":
            cut = [min(len(pair[i]) for pair in pairs) for i in (0, 1)]
            pairs = [[pair[i][: cut[i]] for i in (0, 1)] for pair in pairs]
        spread = [None, None]
        if pooled:
            for i in (0, 1):
                about = [center(p[i]) if variant == "tf-amia" else 0.0 for p in pairs]
                spread[i] = np.concatenate([(p[i] - c).ravel() for p, c in zip(pairs, about)]).std(ddof=ddof)
            if variant == "carlini-2022" and not offline:
                spread[0] = spread[1]
        for j, pair in enumerate(pairs):
            x = scores[victim, j]
            log = []
            for i in (0, 1):
                s = spread[i] if pooled else pair[i].std(0, ddof=ddof)
                log.append((norm.logpdf(x, center(pair[i]), s + 1e-30), norm.logcdf(x, center(pair[i]), s + 1e-30)))
            if offline:
                out[row, j] = (log[0][1] if variant == "leakpro" else -log[0][0]).mean()
            else:
                out[row, j] = (log[1][0] - log[0][0]).mean()
    return out


g = np.random.default_rng(20261121)
M, S, V = 10, 4, 3
keep = np.array([[(m + s) % 2 == 0 if s else m < 6 for s in range(S)] for m in range(M)])
base = g.normal(0, 2, (1, S, 1))
scores = np.round(base + g.normal(0, 1, (M, S, V)) + 0.7 * g.normal(0, 1, (M, S, 1)) + 1.5 * keep[:, :, None], 3)
tables = {"keep": keep.astype(int).tolist(), "scores": scores.tolist(), "cases": []}
for victims in ("loo", "9,2"):
    list_ = list(range(M)) if victims == "loo" else [9, 2]
    shadows = list(range(M)) if victims == "loo" else [m for m in range(M) if m not in list_]
    for variant in ("leakbound", "carlini-2022", "tf-amia", "aerni-2024", "leakpro"):
        data = scores[:, :, :1] if variant == "leakpro" else scores
        for mode in ("online", "offline"):
            for variance in ("per-sample", "pooled"):
                if variant == "aerni-2024" and mode == "offline":
                    continue
                args = (data, keep, list_, shadows)
                flags = (mode == "offline", variance == "pooled")
                value = default(*args, *flags) if variant == "leakbound" else named(*args, variant, *flags)
                tables["cases"].append(dict(variant=variant, mode=mode, variance=variance, victims=victims,
                                            views="independent", expected=value.tolist()))
tables["cases"].append(dict(variant="leakbound", mode="online", variance="per-sample", victims="loo",
                            views="multivariate", expected=multivariate(scores, keep).tolist()))
Path(__file__).parents[1].joinpath("membership.json").write_text(json.dumps(tables, indent=None) + "\n")
