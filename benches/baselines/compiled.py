"""Outputs of a noisy argmax by numba, as fast as its compiler makes loops over lanes.

One generator for each of `LANES` lanes (xoshiro128++ of Blackman and Vigna), normal noise by Box and Muller in single
precision with polynomials that are fitted below, votes class by class from binomial tables (Walker's alias method). The
noise ends at 6.5 standard deviations and has errors of some 1e-6: a speed to compare with, no sampler for an audit.
"""

import functools
import math

from measure import THREADS

import numba as nb
import numpy as np
from numba import float32, int32, uint32, uint64
from numpy.polynomial import Chebyshev, Polynomial
from scipy.stats import binom

LANES = 512
FAST = {"contract", "nsz", "arcp", "reassoc"}


def fitted(function, low, high, degree):
    """Coefficients of a polynomial in single precision, the constant one first."""
    fit = Chebyshev.interpolate(function, degree, [low, high])
    return tuple(np.float32(c) for c in fit.convert(kind=Polynomial, domain=[-1, 1], window=[-1, 1]).coef)


# ln(1 + m) over m, the sine of a over a and the cosine, the latter two as functions of a^2 for |a| <= pi/4.
LOG = fitted(lambda m: np.log1p(m) / m, math.sqrt(0.5) - 1, math.sqrt(2) - 1, 8)
SINE = fitted(lambda s: np.sin(np.sqrt(s)) / np.sqrt(s), 1e-9, (math.pi / 4) ** 2, 3)
COSINE = fitted(lambda s: np.cos(np.sqrt(s)), 1e-9, (math.pi / 4) ** 2, 3)
LN2, QUARTER = np.float32(math.log(2)), np.float32(math.pi / 2 * 2.0**-30)


@nb.njit(fastmath=FAST)
def random_bits(state, out):
    """32 bits for each lane; `state` is [4, lane]."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    for i in range(out.size):
        s0, s1, s2, s3 = a[i], b[i], c[i], d[i]
        sum_ = uint32(s0 + s3)
        out[i] = uint32(uint32(uint32(sum_ << uint32(7)) | uint32(sum_ >> uint32(25))) + s0)
        shifted = uint32(s1 << uint32(9))
        s2, s3 = uint32(s2 ^ s0), uint32(s3 ^ s1)
        b[i], a[i] = uint32(s1 ^ s2), uint32(s0 ^ s3)
        c[i] = uint32(s2 ^ shifted)
        d[i] = uint32(uint32(s3 << uint32(11)) | uint32(s3 >> uint32(21)))


@nb.njit(fastmath=FAST)
def add_normals(state, sigma, first, second, work, out):
    """Adds sigma times a normal variable to each of 2 LANES values."""
    random_bits(state, first)
    random_bits(state, second)
    lanes = first.size
    for i in range(lanes):
        # Uniform in (0, 1], in 2^31 steps.
        work[i] = (float32(int32(first[i] >> uint32(1))) + float32(1.0)) * float32(2.0**-31)
    bits = work.view(np.int32)
    for i in range(lanes):
        # u = 2^e (1 + m) with 1 + m between the root of a half and the root of two.
        shifted = int32(bits[i] - int32(0x3F3504F3))
        exponent = float32(shifted >> int32(23))
        bits[i] = int32(int32(shifted & int32(0x7FFFFF)) + int32(0x3F3504F3))
        m = work[i] - float32(1.0)
        p = LOG[8]
        p = p * m + LOG[7]
        p = p * m + LOG[6]
        p = p * m + LOG[5]
        p = p * m + LOG[4]
        p = p * m + LOG[3]
        p = p * m + LOG[2]
        p = p * m + LOG[1]
        p = p * m + LOG[0]
        logarithm = p * m + exponent * LN2
        radius = sigma * float32(math.sqrt(max(float32(-2.0) * logarithm, float32(0.0))))
        # Two bits name the quarter of the circle, thirty the angle within it.
        q = second[i]
        angle = float32(int32(uint32(q << uint32(2))) >> int32(2)) * QUARTER
        square = angle * angle
        sine = angle * (SINE[0] + square * (SINE[1] + square * (SINE[2] + square * SINE[3])))
        cosine = COSINE[0] + square * (COSINE[1] + square * (COSINE[2] + square * COSINE[3]))
        flip = (q & uint32(0x40000000)) != uint32(0)
        sign = float32(1.0) - float32(2.0) * float32(int32(q >> uint32(31)))
        x = cosine if flip else sine
        y = -sine if flip else cosine
        out[i] += radius * sign * x
        out[lanes + i] += radius * sign * y


@nb.njit
def seeded(seed):
    """States of all lanes from one number, by the finalizer of splitmix64."""
    state = np.empty((4, LANES), np.uint32)
    z = uint64(seed)
    for i in range(4):
        for j in range(LANES):
            z += uint64(0x9E3779B97F4A7C15)
            x = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
            state[i, j] = uint32(x >> uint64(32))
    return state


@nb.njit(fastmath=FAST)
def count_block(noisy, largest, counts):
    """Adds the winners of a block [class, output]."""
    for i in range(largest.size):
        largest[i] = noisy[0, i]
    for c in range(1, noisy.shape[0]):
        row = noisy[c]
        for i in range(largest.size):
            largest[i] = max(largest[i], row[i])
    for c in range(noisy.shape[0]):
        row = noisy[c]
        wins = int32(0)
        for i in range(largest.size):
            wins += int32(row[i] == largest[i])
        counts[c] += wins


@nb.njit(fastmath=FAST)
def fill_fixed(votes, state, bits, left, noisy):
    for c in range(votes.size):
        noisy[c, :] = votes[c]


@nb.njit(fastmath=FAST)
def fill_multinomial(tables, state, bits, left, noisy):
    """Class after class a binomial share of the votes that are left, by a table for each number of them."""
    keep, alias, first, k = tables
    left[:] = k
    last = noisy.shape[0] - 1
    for c in range(last):
        for half in range(2):
            random_bits(state, bits)
            for lane in range(bits.size):
                i = half * bits.size + lane
                n = left[i]
                # The column from the upper bits of the product, the coin from its lower ones.
                product = uint64(bits[lane]) * uint64(n + 1)
                column = int32(product >> uint64(32))
                place = first[n] + column
                votes = column if uint32(product) < keep[c, place] else int32(alias[c, place])
                noisy[c, i] = float32(votes)
                left[i] = n - votes
    for i in range(left.size):
        noisy[last, i] = float32(left[i])


@nb.njit(fastmath=FAST)
def fill_parties(limits, state, bits, left, noisy):
    """One uniform variable for each party, compared with its distribution function."""
    noisy[:, :] = float32(0.0)
    lanes = bits.size
    last = noisy.shape[0] - 1
    noisy[last, :] = float32(limits.shape[0])
    below = np.zeros((last, lanes), np.int32)
    for half in range(2):
        below[:, :] = 0
        for party in range(limits.shape[0]):
            random_bits(state, bits)
            for c in range(last):
                limit, row = limits[party, c], below[c]
                for i in range(lanes):
                    row[i] += int32(bits[i] < limit)
        for c in range(last):
            for i in range(lanes):
                noisy[c, half * lanes + i] += float32(below[c, i])
                noisy[c + 1, half * lanes + i] -= float32(below[c, i])


@functools.cache
def program(fill, classes):
    """A compiled program of one kind of votes and a number of classes."""

    @nb.njit(parallel=True, fastmath=FAST)
    def run(votes, sigma, blocks, seed):
        counts = np.zeros((THREADS, classes), np.int64)
        for thread in nb.prange(THREADS):
            state = seeded(seed + thread)
            first, second = np.empty(LANES, np.uint32), np.empty(LANES, np.uint32)
            work, largest = np.empty(LANES, np.float32), np.empty(2 * LANES, np.float32)
            left = np.empty(2 * LANES, np.int32)
            noisy = np.empty((classes, 2 * LANES), np.float32)
            own = np.zeros(classes, np.int64)
            for _ in range(blocks):
                fill(votes, state, first, left, noisy)
                for c in range(classes):
                    add_normals(state, sigma, first, second, work, noisy[c])
                count_block(noisy, largest, own)
            counts[thread] = own
        return counts.sum(0)

    return run


def alias_table(distribution):
    """Walker's table: column i is kept with probability keep[i] / 2^32 and gives alias[i] otherwise."""
    scaled = distribution / distribution.sum() * distribution.size
    keep, alias = np.ones(distribution.size), np.arange(distribution.size)
    small, large = list(np.flatnonzero(scaled < 1)), list(np.flatnonzero(scaled >= 1))
    while small and large:
        lower, upper = small.pop(), large[-1]
        keep[lower], alias[lower] = scaled[lower], upper
        scaled[upper] -= 1 - scaled[lower]
        if scaled[upper] < 1:
            small.append(large.pop())
    return np.minimum(keep * 2.0**32, 2.0**32 - 1).astype(np.uint32), alias.astype(np.uint16)


def binomial_tables(k, p):
    """Tables of Binomial(n, p_c / (p_c + .. + p_last)) for every class but the last and every n <= k."""
    classes = len(p)
    first = np.cumsum(np.r_[0, np.arange(1, k + 1)]).astype(np.int64)
    size = first[-1] + k + 1
    keep, alias = np.zeros((classes - 1, size), np.uint32), np.zeros((classes - 1, size), np.uint16)
    for c in range(classes - 1):
        share = min(p[c] / max(p[c:].sum(), 1e-300), 1.0)
        for n in range(k + 1):
            place = slice(first[n], first[n] + n + 1)
            keep[c, place], alias[c, place] = alias_table(binom.pmf(np.arange(n + 1), n, share))
    return keep, alias, first, np.int32(k)


def whole_blocks(total):
    """The largest number of outputs up to `total` that every thread makes in whole blocks, at least one each."""
    block = THREADS * 2 * LANES
    return max(total // block, 1) * block


def counts(kind, votes, sigma):
    """A function of a number of outputs in whole blocks that returns the counts of the classes.

    Tables are made here, once.
    """
    if kind == "fixed":
        fill, data, classes = fill_fixed, votes.astype(np.float32), len(votes)
    elif kind == "multinomial":
        fill, data, classes = fill_multinomial, binomial_tables(*votes), len(votes[1])
    else:
        classes = votes.shape[1]
        limits = np.cumsum(votes, 1)[:, :-1] * 2.0**32
        fill, data = fill_parties, np.minimum(limits, 2.0**32 - 1).astype(np.uint32)
    run = program(fill, classes)
    return lambda total: run(data, np.float32(sigma), total // (THREADS * 2 * LANES), 7)
