"""Makes fashion_sample.npz: python make_fashion_sample.py FOLDER, a folder that `cargo xtask data fashion-mnist` prints."""

import gzip
import pathlib
import sys

import numpy

folder = pathlib.Path(sys.argv[1])


def idx(name):
    data = gzip.open(folder / name).read()
    axes = data[3]
    sizes = [int.from_bytes(data[4 + 4 * axis : 8 + 4 * axis], "big") for axis in range(axes)]
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * axes).reshape(sizes)


numpy.savez_compressed(
    pathlib.Path(__file__).with_name("fashion_sample.npz"),
    x_train=idx("train-images-idx3-ubyte.gz")[:2000],
    y_train=idx("train-labels-idx1-ubyte.gz")[:2000],
    x_test=idx("t10k-images-idx3-ubyte.gz")[:500],
    y_test=idx("t10k-labels-idx1-ubyte.gz")[:500],
)
