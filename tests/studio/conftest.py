import pytest

pytest.importorskip("jinja2", reason="the extra `studio` is not installed: jinja2 is missing")
