"""Rehearse, judge, perhaps ask, then commit."""

from envace_sdk.errors import ApprovalRequired, GuardError, NotExecutedError, PolicyError, Refused

from .action import Action, Pass, visible_arguments
from .budget import Account, Budget, MeteredModel, spending
from .case import Case
from .core import Context, Execute, Guard, Read
from .flow import is_control_flow, is_lost_answer, is_pause, register_control_flow
from .forecast import DryRun
from .journal import Switch
from .match import Condition, Match
from .policy import AskPeople, Decision, Policy, RiskRule, Rule, RulePolicy
from .policyfile import load_policy, parse_policy
from .prediction import Prediction, PredictionKind, WorldDiff
from .record import Requirement, TrackRecord
from .results import as_result
from .risk import Risk, RiskLevel
from .verdict import Outcome, Score, Verdict, VerdictKind
from .webhook import Webhook

__all__ = [
    "Account",
    "Action",
    "ApprovalRequired",
    "AskPeople",
    "Budget",
    "Case",
    "Condition",
    "Context",
    "Decision",
    "DryRun",
    "Execute",
    "Guard",
    "GuardError",
    "Match",
    "MeteredModel",
    "NotExecutedError",
    "Outcome",
    "Pass",
    "Policy",
    "PolicyError",
    "Prediction",
    "PredictionKind",
    "Read",
    "Refused",
    "Requirement",
    "Risk",
    "RiskLevel",
    "RiskRule",
    "Rule",
    "RulePolicy",
    "Score",
    "Switch",
    "TrackRecord",
    "Verdict",
    "VerdictKind",
    "Webhook",
    "WorldDiff",
    "as_result",
    "is_control_flow",
    "is_lost_answer",
    "is_pause",
    "load_policy",
    "parse_policy",
    "register_control_flow",
    "spending",
    "visible_arguments",
]
