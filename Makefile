# make demo and make test need nothing but Python 3.11+ and a package registry; each builds its own venv.
PYTHON ?= python3
VENVS ?= .venvs
LOCK := locks/dev.txt
DIGEST := $(shell $(PYTHON) -c "import hashlib,sys; print(hashlib.sha256(open('$(LOCK)','rb').read() + sys.version.encode()).hexdigest()[:12])")
VENV := $(VENVS)/dev-$(DIGEST)
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help venv demo test test-fast lint typecheck format lock clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(READY): $(LOCK)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	touch $@

venv: $(READY)  ## Build the virtual environment for this lock file
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

demo: venv  ## Install, then rehearse a session on a shipped toolset through a real MCP client
	$(BIN)/envace-sdk demo

test: venv  ## Install, then run all tests
	$(BIN)/python -m pytest

test-fast: venv  ## The everyday tests only
	$(BIN)/python -m pytest -m "not slow and not nightly"

lint: venv  ## Style, types and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory typecheck

# mypy and import-linter want the package as it is installed: one tree.
typecheck: venv
	rm -rf build
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --target build/tree .
	cd build/tree && $(abspath $(BIN))/mypy --config-file ../../pyproject.toml -p envace_sdk
	cd build/tree && PYTHONPATH=. $(abspath $(BIN))/lint-imports --config ../../pyproject.toml

format: venv  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## Resolve the lock files again (needs uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra dev --output-file locks/dev.txt pyproject.toml locks/build.in
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --output-file locks/mcp-1.x.txt locks/mcp-1.x.in

clean:
	rm -rf .venvs build dist
