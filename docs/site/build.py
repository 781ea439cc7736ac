"""Build the site: `python docs/site/build.py [OUTPUT]`.

Warnings are errors: a link or anchor that leads nowhere, a page that the navigation lacks, an entry without a page.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from cli_reference import cli_reference
from python_reference import python_reference
from sphinx.cmd.build import build_main
from stage import ROOT, stage


def main() -> int:
    """The exit code of Sphinx."""
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    pages = output.with_name(output.name + "-pages")
    for folder in (pages, output):
        shutil.rmtree(folder, ignore_errors=True)
    stage(pages, {"reference/cli.md": cli_reference(), **python_reference()})
    code: int = build_main(
        [
            *("-b", "html", "-q", "-n", "-W", "--keep-going", "-d", f"{pages}-cache"),
            *("-c", str(Path(__file__).parent), str(pages), str(output)),
        ]
    )
    if code == 0:
        sys.stdout.write(f"built {output / 'index.html'}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
