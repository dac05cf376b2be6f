"""Bounds on the privacy leakage of real mechanisms, from below and from above.

| module | what it has |
|---|---|
| `accounting` | exact leakage, upper bounds on all answers together, noise for a goal, tests of accountants |
| `audit` | lower bounds from recorded outputs, votes, tokens and programs |
| `canaries` | audits of one training run |
| `membership` | membership, label and property inference from recorded scores |
| `simulate` | simulated outputs in both worlds |
| `mechanisms` | mechanisms as objects, which compose |
| `results`, `documents` | the classes of results, and of the rows in them |
| `distributed` | simulations and audits on Dask or Ray |
| `prompts` | votes of an ensemble of prompts |

Every function runs a command of the program `leakbound` in this process, on arrays or files, and gives its document as a
frozen dataclass with `to_json()`, `to_dict()`, `to_pandas()` and `plot()`. Options have the command's names with
underscores, its defaults and its choices. Errors are `ValueError`s with one sentence and the `parameter` to blame.

`max_memory` is the most memory that input read from a file may take, such as `"4G"`. `progress` is `True` for a bar of
tqdm, or a function that is called with what is done, the total, and their unit. Ctrl-C interrupts within a second.

>>> import leakbound
>>> step = leakbound.mechanisms.Gaussian(sigma=1.1).poisson(0.01)
>>> epsilon = (step * 1000).epsilon(delta=1e-5)
>>> 1.51 < epsilon.lower <= epsilon.upper < 1.52
True
"""

import importlib
from typing import TYPE_CHECKING, Any

from leakbound import accounting, audit, canaries, documents, mechanisms, membership, results, simulate
from leakbound._call import LeakboundWarning
from leakbound._core import __version__
from leakbound._errors import Error, InputError, UsageError
from leakbound._result import ClaimRefuted

if TYPE_CHECKING:
    from leakbound import distributed, prompts

__all__ = [
    "ClaimRefuted",
    "Error",
    "InputError",
    "LeakboundWarning",
    "UsageError",
    "__version__",
    "accounting",
    "audit",
    "canaries",
    "distributed",
    "documents",
    "mechanisms",
    "membership",
    "prompts",
    "results",
    "simulate",
]


def __getattr__(name: str) -> Any:
    # Used by few; imported when they are first asked for.
    if name in ("distributed", "prompts"):
        return importlib.import_module(f"leakbound.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
