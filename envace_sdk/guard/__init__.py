"""Rehearse, judge, perhaps ask, then commit."""

from envace_sdk.errors import ApprovalRequired, GuardError, NotExecutedError, PolicyError, Refused

from .action import Action, Pass, visible_arguments
from .acts import acts_of
from .attempts import Agent, Attempt, RehearsedCall, Toolbox
from .budget import Account, Budget, MeteredModel, spending
from .case import Case
from .claims import Act, UnsupportedClaim, audit_claims
from .core import Context, Execute, Guard, Read
from .decorator import calling, guard
from .executing import Going
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
from .wholetask import Condense, TaskBudget, TaskOutcome, rehearse_then_commit

__all__ = [
    "Account",
    "Act",
    "Action",
    "Agent",
    "ApprovalRequired",
    "AskPeople",
    "Attempt",
    "Budget",
    "Case",
    "Condense",
    "Condition",
    "Context",
    "Decision",
    "DryRun",
    "Execute",
    "Going",
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
    "RehearsedCall",
    "Requirement",
    "Risk",
    "RiskLevel",
    "RiskRule",
    "Rule",
    "RulePolicy",
    "Score",
    "Switch",
    "TaskBudget",
    "TaskOutcome",
    "Toolbox",
    "TrackRecord",
    "UnsupportedClaim",
    "Verdict",
    "VerdictKind",
    "Webhook",
    "WorldDiff",
    "acts_of",
    "as_result",
    "audit_claims",
    "calling",
    "guard",
    "is_control_flow",
    "is_lost_answer",
    "is_pause",
    "load_policy",
    "parse_policy",
    "register_control_flow",
    "rehearse_then_commit",
    "spending",
    "visible_arguments",
]
