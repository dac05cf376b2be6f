"""Golden values of the random streams, by an implementation that shares no code with the crate.

ChaCha8 with 64-bit counter 0 and 64-bit nonce 0 (Bernstein 2008), key = seed, query, world, block as little-endian
64-bit words; the first 32 bytes of its output are the state of xoshiro256++ (Blackman and Vigna 2021).
"""
import struct

M32, M64 = 2**32 - 1, 2**64 - 1


def chacha8(key):
    state = list(struct.unpack("<16I", b"expand 32-byte k" + key + bytes(16)))
    x = state[:]

    def quarter(a, b, c, d):
        for p, q, r, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[p] = (x[p] + x[q]) & M32
            x[r] ^= x[p]
            x[r] = (x[r] << n | x[r] >> (32 - n)) & M32

    for _ in range(4):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((a + b) & M32 for a, b in zip(x, state)))


def xoshiro(s):
    rotate = lambda v, n: (v << n | v >> (64 - n)) & M64
    while True:
        yield (rotate((s[0] + s[3]) & M64, 23) + s[0]) & M64
        t = s[1] << 17 & M64
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)


if __name__ == "__main__":
    # First half block for the zero key: eSTREAM's test vectors of ChaCha8 with 256 bits.
    assert chacha8(bytes(32)).hex().startswith("3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e")
    for words in [(0, 0, 0, 0), (0, 0, 1, 0), (1, 2, 1, 3), (M64, M64, 1, M64)]:
        generator = xoshiro(list(struct.unpack("<4Q", chacha8(struct.pack("<4Q", *words))[:32])))
        print(words, [hex(next(generator)) for _ in range(3)])
