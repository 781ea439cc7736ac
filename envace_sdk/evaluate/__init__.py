"""How close a rehearsed environment comes to the real one, measured on recordings it has not seen."""

from .ceiling import Ceiling
from .episodes import Episode, episodes_of, load_episodes
from .exam import Exam
from .fidelity import examine, fidelity, replays
from .page import page
from .players import MISS, Played, Player, Session
from .playing import Loop
from .rehearsing import Rehearsing
from .replays import CheckedReplay, ExactReplay, NearestReplay
from .report import AXES, Bin, Case, FidelityReport, Layer, Scores
from .result import Worst

__all__ = [
    "AXES",
    "MISS",
    "Bin",
    "Case",
    "Ceiling",
    "CheckedReplay",
    "Episode",
    "ExactReplay",
    "Exam",
    "FidelityReport",
    "Layer",
    "Loop",
    "NearestReplay",
    "Played",
    "Player",
    "Rehearsing",
    "Scores",
    "Session",
    "Worst",
    "episodes_of",
    "examine",
    "fidelity",
    "load_episodes",
    "page",
    "replays",
]
