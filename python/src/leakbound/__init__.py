"""Bounds on the privacy leakage of real mechanisms, from below and from above.

Every function runs a command of the program `leakbound` in this process, on arrays or files, and gives its document:
attributes for its keys, `to_json()`, `to_dict()`, `to_pandas()` and `plot()`. Options have the command's names with
underscores, its defaults and its choices. Errors are `ValueError`s with the library's own sentence.

Every function takes `seed`, `threads`, `max_memory` and `progress`. `max_memory` is the most memory that what is read
from a file may take, such as `"4G"`. `progress` is `True` for a bar of tqdm, or a function that is called with what is
done, the whole, and their unit. Ctrl-C interrupts within a second.
"""

from leakbound import _documents, _functions, _results, canaries
from leakbound._canaries import CanaryScores, Roc, TprAtFpr
from leakbound._core import Error, InputError, UsageError, __version__
from leakbound._documents import *
from leakbound._functions import *
from leakbound._intervals import Interval, clopper_pearson
from leakbound._prompt_template import PromptTemplate, first_label
from leakbound._prompt_votes import PromptVotes, prompt_votes
from leakbound._rdp import RdpCurve
from leakbound._result import ClaimRefuted, Result
from leakbound._results import *
from leakbound._rows import Row, Rows
from leakbound._run import LeakboundWarning
from leakbound._simulation import Simulation
from leakbound._special import accountants

__all__ = [
    "CanaryScores",
    "ClaimRefuted",
    "Error",
    "InputError",
    "Interval",
    "LeakboundWarning",
    "PromptTemplate",
    "PromptVotes",
    "RdpCurve",
    "Result",
    "Roc",
    "Row",
    "Rows",
    "Simulation",
    "TprAtFpr",
    "UsageError",
    "__version__",
    "accountants",
    "canaries",
    "clopper_pearson",
    "first_label",
    "prompt_votes",
]
__all__ += _documents.__all__
__all__ += _functions.__all__
__all__ += _results.__all__
