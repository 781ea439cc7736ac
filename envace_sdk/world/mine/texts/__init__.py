"""Text templates: mined from the texts a tool answered with, they read such texts into values and write them back."""

from __future__ import annotations

from .mine import TextCase, mine_texts
from .slot import Slot
from .template import Rows, Template

__all__ = ["Rows", "Slot", "Template", "TextCase", "mine_texts"]
