"""What these scripts need."""

import argparse
import sys

import torch

__all__ = ["on_gpus"]


def on_gpus(parser: argparse.ArgumentParser, least: int = 1) -> argparse.Namespace:
    """The options; ends the script where there are too few GPUs, unless it is only to be tried."""
    parser.add_argument(
        "--try-on-cpu", action="store_true", help="Only to see that the script runs; its figures tell nothing."
    )
    options = parser.parse_args()
    if torch.cuda.device_count() < least and not options.try_on_cpu:
        found = f"torch {torch.__version__} sees {torch.cuda.device_count()}"
        print(f"{sys.argv[0]} needs {least} GPUs (CUDA), and {found}: nothing was measured.", file=sys.stderr)
        sys.exit(3)
    return options
