"""verl (https://github.com/verl-project/verl): our rollouts and role-wise advantages, its Ray, FSDP2, vLLM and SGLang.

Only `plugin` imports verl. It is the entry point `envace` of the group `verl.plugins`, so `import verl` loads it in
every process of a run.
"""

from .config import NAME, verl_config
from .launch import launch, prepare

__all__ = ["NAME", "launch", "prepare", "verl_config"]
