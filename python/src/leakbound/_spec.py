"""Mechanisms as objects, and releases of them that add up."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar, Union

import numpy as np

from leakbound._call import Request
from leakbound._errors import UsageError
from leakbound._intervals import Interval
from leakbound._rows import dataclass_transform, documented
from leakbound._scenario import scenario_file
from leakbound.results import Account

# A scale of noise; "?" where a calibration finds it.
Scale = Union[float, Literal["?"]]

S = TypeVar("S", bound="Spec")


@dataclass_transform(frozen_default=True)
class Spec:
    """What the library names by a text such as `"gaussian:sigma=2"`, as an object."""

    # What stands here are subclasses, each with parameters of its own.
    __signature__ = inspect.Signature()

    _name: ClassVar[str]
    # Arguments of an example.
    _example: ClassVar[str]

    if not TYPE_CHECKING:

        def __init__(self, *values, **named):
            fields = dataclasses.fields(self)
            given = dict(zip((field.name for field in fields), values))
            if len(values) > len(fields) or not given.keys().isdisjoint(named):
                raise TypeError(f"{type(self).__name__} takes {', '.join(field.name for field in fields)}, each once")
            given.update(named)
            for field in fields:
                value = given.pop(field.name, field.default)
                if value is dataclasses.MISSING:
                    raise TypeError(f"{type(self).__name__} needs {field.name}")
                object.__setattr__(self, field.name, tuple(value) if isinstance(value, list) else value)
            if given:
                raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")

    def __init_subclass__(cls) -> None:
        if "_name" in cls.__dict__:
            dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
            documented(cls, "Parameters")
            call = f"{cls.__name__}({cls._example})"
            example = f">>> mechanism = leakbound.mechanisms.{call}\n>>> mechanism\n{call}"
            cls.__doc__ = f"{cls.__doc__}\nExamples\n--------\n{example}\n"
            cls.__signature__ = inspect.Signature(
                [
                    inspect.Parameter(
                        field.name,
                        inspect.Parameter.POSITIONAL_OR_KEYWORD,
                        default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
                    )
                    for field in dataclasses.fields(cls)  # type: ignore[arg-type]
                ]
            )

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    @property
    def spec(self) -> str:
        """The text form, which the command reads too."""
        given = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))  # type: ignore[arg-type]
        return f"{self._name}:" + ",".join(f"{name}={_text(name, value)}" for name, value in given if value is not None)

    def __str__(self) -> str:
        return self.spec

    def __repr__(self) -> str:
        given = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given if value is not None)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.spec == other.spec

    def __hash__(self) -> int:
        return hash(self.spec)


class Mechanism(Spec):
    """A mechanism with its parameters, such as `Gaussian(sigma=2)`.

    Mechanisms compose to releases: `times * mechanism`, and `a | b` for both after one another. `poisson` runs one on a
    random sample of the records.

    Examples
    --------
    >>> step = leakbound.mechanisms.Gaussian(sigma=1.1).poisson(0.01)
    >>> epsilon = (step * 1000).epsilon(1e-5)
    >>> 1.51 < epsilon.lower <= epsilon.upper < 1.52
    True
    """

    def poisson(self, rate: float) -> Mechanism:
        """This mechanism on a Poisson subsample, which each record joins with this probability."""
        return _Poisson(rate, self)

    def on(self, histogram: Sequence[int]) -> Releases:
        """A release for recorded votes, where the mechanism is one of votes or of answers."""
        return Releases([{"mechanism": self.spec, "histogram": list(histogram)}])

    def epsilon(self, delta: float, **options: Any) -> Interval:
        """ε of one release at δ, between two ends; see `Releases.epsilon`."""
        return (self * 1).epsilon(delta, **options)

    def __mul__(self, times: int) -> Releases:
        return Releases([{"mechanism": self.spec}]) * times

    __rmul__ = __mul__

    def __or__(self, other: Mechanism | Releases) -> Releases:
        return self * 1 | other


class _Poisson(Mechanism):
    """A mechanism on a Poisson subsample; of Gaussian noise a mechanism of its own, which has a name."""

    def __init__(self, rate: float, of: Mechanism) -> None:
        object.__setattr__(self, "_text", f"poisson:rate={_text('rate', rate)},of=[{of.spec}]")
        if of.spec.startswith("gaussian:"):
            object.__setattr__(self, "_text", f"subsampled-{of.spec},rate={_text('rate', rate)}")

    @property
    def spec(self) -> str:
        """The text form, which the command reads too."""
        text: str = self._text  # type: ignore[attr-defined]
        return text

    def __repr__(self) -> str:
        return f"<Mechanism {self.spec}>"


class NoisyArgmax(Mechanism):
    """The class with the most votes, each count with noise.

    Parameters
    ----------
    noise : Mechanism
        `Gaussian(sigma)` or `Laplace(sigma)`.

    Examples
    --------
    >>> from leakbound.mechanisms import Gaussian, NoisyArgmax
    >>> NoisyArgmax(noise=Gaussian(40)).spec
    'gnmax:sigma=40'
    """

    __signature__ = inspect.signature(lambda noise: None)

    def __init__(self, noise: Mechanism) -> None:
        if not isinstance(noise, Mechanism) or not noise.spec.startswith(("gaussian:", "laplace:")):
            raise UsageError(f"found {noise!r}, expected Gaussian or Laplace", "noise")
        object.__setattr__(self, "noise", noise)

    @property
    def spec(self) -> str:
        """The text form, which the command reads too."""
        noise: Mechanism = self.noise  # type: ignore[attr-defined]
        return noise.spec.replace("gaussian", "gnmax").replace("laplace", "lnmax")

    def __repr__(self) -> str:
        return f"NoisyArgmax(noise={self.noise!r})"  # type: ignore[attr-defined]


class Releases:
    """Releases of mechanisms, one after the other: `1000 * step | survey`.

    Parameters
    ----------
    parts : sequence of mapping
        Releases, each with the keys of a release in a file, such as `{"mechanism": "laplace:sigma=4", "times": 10}`.

    Examples
    --------
    >>> from leakbound.mechanisms import Gaussian, Laplace
    >>> both = 10 * Laplace(sigma=20) | Gaussian(sigma=5)
    >>> [part["times"] for part in both.to_releases()["release"]]
    [10, 1]
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Sequence[Mapping[str, Any]]) -> None:
        self._parts: tuple[dict[str, Any], ...] = tuple({"times": 1, **part} for part in parts)

    def epsilon(self, delta: float, **options: Any) -> Interval:
        """ε of all releases together at δ: the upper end certainly holds; less than the lower end certainly does not.

        Privacy-loss distributions enclose it, in both directions of the neighboring relation. `options` are those of
        `accounting.account`.
        """
        losses = self.account(delta=delta, composition="pld", **options).losses
        if losses is None:
            raise UsageError("found releases without privacy losses; `account` has bounds by Rényi divergences", "releases")
        return Interval(losses.epsilon.lower, losses.epsilon.upper)

    def account(self, **options: Any) -> Account:
        """`accounting.account` of these releases."""
        progress = options.pop("progress", None)
        return Request("account", options, {"file": {"releases": scenario_file(self.to_releases())}}, progress).run(Account)

    def to_releases(self) -> dict[str, Any]:
        """The releases as `accounting.account` takes them, and as a file in TOML has them."""
        return {"release": [dict(part) for part in self._parts]}

    def __mul__(self, times: int) -> Releases:
        if isinstance(times, bool) or not isinstance(times, (int, np.integer)) or not 1 <= times <= 2**53:
            raise UsageError(f"found {times!r}, expected a whole number from 1 to 2^53", "times")
        if len(self._parts) == 1:
            (part,) = self._parts
            return Releases([{**part, "times": part["times"] * int(times)}])
        return Releases([{"release": list(self._parts), "times": int(times)}])

    __rmul__ = __mul__

    def __or__(self, other: Mechanism | Releases) -> Releases:
        if isinstance(other, Mechanism):
            other = other * 1
        if not isinstance(other, Releases):
            return NotImplemented
        return Releases([*self._parts, *other._parts])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Releases) and self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Releases: {' | '.join(_part(part) for part in self._parts)}>"


def _part(part: Mapping[str, Any]) -> str:
    inner = part.get("mechanism") or f"({' | '.join(_part(one) for one in part['release'])})"
    return f"{part['times']} * {inner}" if part["times"] != 1 else str(inner)


def _text(name: str, value: Any) -> str:
    """A parameter in the text form."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, Spec) or name == "of":
        return f"[{value}]"
    if isinstance(value, (list, tuple)):
        return "/".join(_text(name, item) for item in value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise UsageError(f"found {type(value).__name__}, expected a number", name)
    return str(value)
