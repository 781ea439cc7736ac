"""Where the lines of a plot's grid lie."""

from __future__ import annotations

import math

__all__ = ["ticks"]


def ticks(least: float, most: float, *, whole: bool = False) -> list[float]:
    """Round numbers around a range, at least two.

    Args:
        least: where the range begins.
        most: where it ends.
        whole: only whole numbers, as for steps.
    """
    size = max(abs(least), abs(most))
    if whole and most - least < 1:
        most = least + max(1.0, 0.1 * size)
    if most - least <= 1e-9 * max(1.0, size):
        pad = max(0.1 * size, 0.01)
        least, most = least - pad, most + pad
    rough = (most - least) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
    if whole:
        step = max(step, 1.0)
    first = math.floor(least / step + 1e-9)
    last = math.ceil(most / step - 1e-9)
    return [round(number * step, 12) for number in range(first, max(last, first + 1) + 1)]
