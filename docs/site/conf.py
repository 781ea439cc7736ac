"""Sphinx's configuration; `docs/site/build.py` lays the pages out before it runs."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

project = "envace-sdk"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "envace-sdk"
html_show_copyright = False
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
myst_heading_anchors = 4
myst_all_links_external = False
# JSON and YAML with an ellipsis are coloured as far as they go.
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
exclude_patterns = ["**/.*"]
pygments_dark_style = "monokai"
