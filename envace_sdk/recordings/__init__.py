"""Recordings of real servers: the file format, what goes into it, and what comes out of it.

`Recording` is the way in for who has recordings, or traces, and wants calls; the rest is what it is made of.
"""

from .dialogues import Dialogues, Final, Turn
from .findings import Finding
from .format import FORMAT, VERSION, Client, Event, Exchange, Header, Notice, Session
from .gathering import Gathered, gather
from .matching import Matching, differences, explain_miss
from .modes import RecordMode
from .reader import RecordingFile, is_recording, read_recording
from .recording import RecordedCall, Recording
from .redact import REDACTED, Redact, SecretRedactor, no_redaction
from .tape import Episode, Tape
from .writer import Writer

__all__ = [
    "FORMAT",
    "REDACTED",
    "VERSION",
    "Client",
    "Dialogues",
    "Episode",
    "Event",
    "Exchange",
    "Final",
    "Finding",
    "Gathered",
    "Header",
    "Matching",
    "Notice",
    "RecordMode",
    "RecordedCall",
    "Recording",
    "RecordingFile",
    "Redact",
    "SecretRedactor",
    "Session",
    "Tape",
    "Turn",
    "Writer",
    "differences",
    "explain_miss",
    "gather",
    "is_recording",
    "no_redaction",
    "read_recording",
]
