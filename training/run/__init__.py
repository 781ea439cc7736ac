"""A whole run: from schemas to a policy that acts and rehearses, with its report."""

from .evaluation import Evaluation, evaluate
from .export import export
from .job import Job
from .loop import train
from .material import Material
from .planning import plan
from .settings import RunConfig, load_run_config, run_config
from .stopping import Stop
from .watching import Watch

__all__ = [
    "Evaluation",
    "Job",
    "Material",
    "RunConfig",
    "Stop",
    "Watch",
    "evaluate",
    "export",
    "load_run_config",
    "plan",
    "run_config",
    "train",
]
