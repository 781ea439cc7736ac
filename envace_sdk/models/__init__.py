"""Chat models behind one method: scripted, OpenAI-compatible, transformers, vLLM."""

from .load import load_model
from .model import ChatModel, Completion, Message, NativeCall, Request, Sampling
from .scripted import ScriptedModel

__all__ = [
    "ChatModel",
    "Completion",
    "Message",
    "NativeCall",
    "Request",
    "Sampling",
    "ScriptedModel",
    "load_model",
]
