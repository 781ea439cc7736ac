"""What a process holds of memory that it has freed."""

import platform
import subprocess
import sys

import pytest

BEGIN = """
import sys, torch
from envace_sdk.training.memory import give_back_freed, trim

def held():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1024
"""
LARGE = """
if sys.argv[1] == "given back":
    give_back_freed()
torch.ones(25 * 2**18)  # 25 MB, freed at once: blocks as large as it are kept from here on
before = held()
between, large = [], []
for _ in range(20):
    large.append(torch.ones(20 * 2**18))
    between.append(torch.ones(2**14))
large.clear()
print(held() - before)
"""
SMALL = """
give_back_freed()
before = held()
between, small = [], []
for _ in range(200):
    small.append(torch.ones(2 * 2**18))
    between.append(torch.ones(2**10))
small.clear()
if sys.argv[1] == "given back":
    trim()
print(held() - before)
"""


def megabytes_held(program, way):
    """Of 400 that were freed."""
    found = subprocess.run([sys.executable, "-c", BEGIN + program, way], capture_output=True, text=True, check=True)
    return float(found.stdout)


pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="elsewhere malloc is left as it is")


@pytest.mark.parametrize("program", [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize(("way", "least", "most"), [("kept", 300, 500), ("given back", 0, 60)])
def test_freed_tensors_are_given_back_to_the_system(program, way, least, most):
    assert least <= megabytes_held(program, way) <= most
