"""The worked example of docs/training-maths.md: two trajectories, judged role by role."""

from envace_sdk.training.advantages import rolewise
from envace_sdk.training.rows import Role, Row


def row(role: Role, sample: int, reward: float) -> Row:
    return Row("cancel an order", sample, role, prompt_ids=(1, 2), completion_ids=(3, 4), reward=reward)


rows = [
    row("act", 0, 1.0),
    row("rehearse", 0, 1.0),
    row("act", 0, 1.0),
    row("act", 1, 0.0),
    row("rehearse", 1, 0.0),
    row("rehearse", 1, 0.0),
    row("rehearse", 1, 0.0),
]

for settings in ({"baseline": "row"}, {"baseline": "trajectory"}, {"baseline": "row", "pooled": True}):
    judged, report = rolewise(rows, **settings)  # type: ignore[arg-type]
    print(settings, [(found.role, round(found.advantage, 2)) for found in judged])
print(f"{report.learning_share:.0%} of the groups have something to teach")
