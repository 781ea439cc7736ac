"""The benchmark's own tests need its package, which has an environment of its own (`make test-bench`)."""

import importlib.util

collect_ignore_glob = ["test_bfcl*.py"] if importlib.util.find_spec("bfcl_eval") is None else []
