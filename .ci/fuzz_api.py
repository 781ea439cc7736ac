"""Let Schemathesis make up requests for a running guard API from its description: `fuzz_api.py SCHEMATHESIS...`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from envace_sdk.mcp_servers.gateway_api import build_api
from gateways import guarding
from guarded_desk import environment
from served import serving

_POLICY = "rules: [{name: reads, when: \"risk.level == 'low'\", then: commit}]"
_TOKEN = "fuzzing"  # noqa: S105  of a server that lives as long as the run
_CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,ignored_auth"


def main(command: list[str]) -> int:
    """The exit code of Schemathesis."""
    os.environ.setdefault("ENVACE_REDACTION_KEY", "fuzzing")
    with tempfile.TemporaryDirectory() as folder, guarding(environment(), Path(folder), policy=_POLICY) as guard:
        app = build_api(guard, server="shop", token=_TOKEN, names=None)
        with serving(app) as base:
            options = ["--header", f"Authorization: Bearer {_TOKEN}", "--checks", _CHECKS, "--no-color"]
            return subprocess.run([*command, "run", f"{base}/openapi.json", *options], check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
