"""What something costs, in a unit that does not depend on the machine or its load."""

import time


def cost(call):
    """CPU time of `call` in this process, measured in runs of a loop of 100,000 additions (some 5 ms of CPU)."""
    units = [_measured(_loop) for _ in range(3)]
    return _measured(call) / sorted(units)[1]


def _loop():
    total = 0
    for number in range(100_000):
        total += number
    return total


def _measured(call):
    begin = time.process_time()
    call()
    return max(time.process_time() - begin, 1e-4)
