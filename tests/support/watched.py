"""Whoever is told how a training run goes, in tests."""


class Watched:
    """Remembers what it is told; does something at a step."""

    def __init__(self, at=None, then=lambda: None):
        self.steps, self.notes, self.phases = [], [], []
        self._at, self._then = at, then

    def phase(self, name, steps, done=0):
        self.phases.append((name, steps, done))

    def step(self, number, values):
        self.steps.append((self.phases[-1][0] if self.phases else "", number, dict(values)))
        if self._at == (self.phases[-1][0] if self.phases else "", number):
            self._then()

    def note(self, text):
        self.notes.append(text)
