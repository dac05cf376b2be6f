"""rand_augment.json: the operations of RandAugment as Pillow carries them out, on parts of real images.

    python validation/reference/scripts/rand_augment.py

An entry has the training images of `validation/data/fashion_sample.npz` that it takes (one, or three as the channels
of an image in color), the rows and columns that are cut out, the operation, its magnitude (a double, read exactly), and
the pixels afterwards in hexadecimal digits: channel, row, column.  Pixels are exact; there is no second method.
"""
import json
from pathlib import Path

import numpy
from PIL import Image, ImageEnhance, ImageOps

DIRECTORY = Path(__file__).resolve().parent.parent
IMAGES = numpy.load(DIRECTORY.parent / "data" / "fashion_sample.npz")["x_train"]
ROWS, COLUMNS = (5, 23), (2, 24)


def affine(image, *coefficients):
    return image.transform(image.size, Image.Transform.AFFINE, coefficients)


OPERATIONS = {
    "identity": lambda image, _: image,
    "auto-contrast": lambda image, _: ImageOps.autocontrast(image),
    "brightness": lambda image, factor: ImageEnhance.Brightness(image).enhance(factor),
    "color": lambda image, factor: ImageEnhance.Color(image).enhance(factor),
    "contrast": lambda image, factor: ImageEnhance.Contrast(image).enhance(factor),
    "equalize": lambda image, _: ImageOps.equalize(image),
    "posterize": lambda image, bits: ImageOps.posterize(image, int(bits)),
    "rotate": lambda image, degrees: image.rotate(degrees),
    "sharpness": lambda image, factor: ImageEnhance.Sharpness(image).enhance(factor),
    "shear-x": lambda image, share: affine(image, 1, share, 0, 0, 1, 0),
    "shear-y": lambda image, share: affine(image, 1, 0, 0, share, 1, 0),
    "solarize": lambda image, threshold: ImageOps.solarize(image, int(threshold)),
    "translate-x": lambda image, share: affine(image, 1, 0, share * image.size[0], 0, 1, 0),
    "translate-y": lambda image, share: affine(image, 1, 0, 0, 0, 1, share * image.size[1]),
}
FACTORS, SHARES = [0.05, 0.4137, 0.95], [-0.3, 0.0, 0.1234, 0.3]
MAGNITUDES = {
    **dict.fromkeys(["identity", "auto-contrast", "equalize"], [0.0]),
    **dict.fromkeys(["brightness", "color", "contrast", "sharpness"], FACTORS),
    **dict.fromkeys(["shear-x", "shear-y", "translate-x", "translate-y"], SHARES),
    "posterize": [4.0, 6.0, 8.0],
    "rotate": [-30.0, -0.01, 0.0, 17.3, 30.0],
    "solarize": [0.0, 100.0, 256.0],
}


def entry(numbers, name, magnitude):
    cut = IMAGES[numbers, slice(*ROWS), slice(*COLUMNS)]
    image = Image.fromarray(cut[0] if len(numbers) == 1 else numpy.ascontiguousarray(cut.transpose(1, 2, 0)))
    pixels = numpy.asarray(OPERATIONS[name](image, magnitude))
    pixels = pixels if len(numbers) == 1 else pixels.transpose(2, 0, 1)
    return {
        "images": numbers,
        "rows": ROWS,
        "columns": COLUMNS,
        "operation": name,
        "magnitude": magnitude,
        "pixels": numpy.ascontiguousarray(pixels).tobytes().hex(),
    }


entries = []
for name, magnitudes in MAGNITUDES.items():
    for number in [2, 23]:
        entries += [entry([number], name, magnitude) for magnitude in magnitudes]
    entries.append(entry([2, 23, 7], name, magnitudes[-2] if len(magnitudes) > 1 else 0.0))
text = "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"
(DIRECTORY / "rand_augment.json").write_text(text)
print(f"rand_augment.json: {len(entries)} entries, {len(text)} bytes")
