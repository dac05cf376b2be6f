"""Bounds on the privacy leakage of real mechanisms, from below and from above.

Every function runs a command of the program `leakbound` in this process, on arrays or files, and gives its document:
attributes for its keys, `to_json()`, `to_dict()`, `to_pandas()` and `plot()`. Options have the command's names with
underscores, and its defaults where they are `None`. Errors are `ValueError`s with the library's own sentence.

Every function takes `seed`, `threads`, `max_memory` and `progress`. `max_memory` is the most memory that what is read
from a file may take, such as `"4G"`. `progress` is `True` for a bar of tqdm, or a function that is called with what is
done, the whole, and their unit. Ctrl-C interrupts within a second.
"""

from leakbound._accounting import Account, AccountCurve, Budget, Losses, account
from leakbound._bench import Bench, BenchRow, bench
from leakbound._bound_rows import (
    Composed,
    ComposedCurve,
    ConvertedEpsilon,
    DeltaLower,
    EpsilonLower,
    Forecast,
    OutputSet,
    RdpBound,
    Recommendation,
    TradeOff,
    TradeOffPoint,
)
from leakbound._canaries import CanaryScores
from leakbound._canary_rows import EpsilonBound, MuBound, OneRun, Rate, Roc, ScoreBound, ScoresAudit, TprAtFpr
from leakbound._core import Error, InputError, UsageError, __version__
from leakbound._counts import CountsAudit, audit_confusion, audit_counts
from leakbound._exact import AccountantRdp, Divergence, Exact, HockeyStick, Outcome, exact
from leakbound._intervals import Interval, clopper_pearson
from leakbound._labels import Memorization, MemorizationBound, memorization
from leakbound._membership import attacker, compare_attacks, label_only, lira, risk, rmia, threshold_attack
from leakbound._membership_rows import Level, MembershipResult, RateAt, SampleLevel, SampleRate
from leakbound._property import Distance, PropertyDistance, property_distance
from leakbound._rdp import RdpCurve
from leakbound._result import Claim, Input, Result, ResultWarning
from leakbound._rows import Row, Rows
from leakbound._run import LeakboundWarning
from leakbound._self_check import Check, SelfCheck, Tightness, self_check
from leakbound._simulation import Plan, QueryCounts, QueryLaw, Simulation, SimulationResult, merge
from leakbound._stream import StreamAudit, audit_stream
from leakbound._verify import Counterexample, Property, Verification, accountants, verify
from leakbound._votes import Query, UpperRdp, VotesAudit, audit_votes

__all__ = [
    "__version__",
    "Account",
    "account",
    "AccountantRdp",
    "accountants",
    "AccountCurve",
    "attacker",
    "audit_confusion",
    "audit_counts",
    "audit_stream",
    "audit_votes",
    "Bench",
    "bench",
    "BenchRow",
    "Budget",
    "CanaryScores",
    "Check",
    "Claim",
    "clopper_pearson",
    "compare_attacks",
    "Composed",
    "ComposedCurve",
    "ConvertedEpsilon",
    "Counterexample",
    "CountsAudit",
    "DeltaLower",
    "Distance",
    "Divergence",
    "EpsilonBound",
    "EpsilonLower",
    "Error",
    "Exact",
    "exact",
    "Forecast",
    "HockeyStick",
    "Input",
    "InputError",
    "Interval",
    "label_only",
    "LeakboundWarning",
    "Level",
    "lira",
    "Losses",
    "MembershipResult",
    "Memorization",
    "memorization",
    "MemorizationBound",
    "merge",
    "MuBound",
    "OneRun",
    "Outcome",
    "OutputSet",
    "Plan",
    "Property",
    "property_distance",
    "PropertyDistance",
    "Query",
    "QueryCounts",
    "QueryLaw",
    "Rate",
    "RateAt",
    "RdpBound",
    "RdpCurve",
    "Recommendation",
    "Result",
    "ResultWarning",
    "risk",
    "rmia",
    "Roc",
    "Row",
    "Rows",
    "SampleLevel",
    "SampleRate",
    "ScoreBound",
    "ScoresAudit",
    "self_check",
    "SelfCheck",
    "Simulation",
    "SimulationResult",
    "StreamAudit",
    "threshold_attack",
    "Tightness",
    "TprAtFpr",
    "TradeOff",
    "TradeOffPoint",
    "UpperRdp",
    "UsageError",
    "Verification",
    "verify",
    "VotesAudit",
]
