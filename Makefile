# The front door. Each target makes .venv itself where it is missing; `make demo` and `make test` need no Go, no cluster.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
LOCK := dev
MINORS := 1.30 1.31 1.32 1.33 1.34
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/pytest
# What needs more than Python stands in .ci/run.
OFFLINE := not controlplane and not matrix and not go and not bench and not shells and not tmux and not packaging and not rows and not controllers
# One more than there are processors, because some tests wait for what time brings.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# None takes half a minute; one that hangs fails by its name, and the others go on.
HANGS := --timeout 300
# Byte code is kept, whatever the environment says: the tests start the program some hundred times.
export PYTHONDONTWRITEBYTECODE :=
DEMO := $(BIN)/kubectl-dra --from demo

.DEFAULT_GOAL := help
.PHONY: help demo test coverage lint format docs e2e e2e-controllers e2e-matrix differential bench dist lowest lock clean corpus

help: ## Show this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(VENV)/ready ## Explain the pending pods of the built-in demo cluster
	@echo '$$ kubectl dra why-pending -A --from demo'
	@$(DEMO) why-pending -A
	@echo
	@echo '$$ kubectl dra why-pending trainer-0 -n ml --from demo'
	@$(DEMO) why-pending trainer-0 -n ml

test: $(VENV)/ready ## Run all tests that need neither Go nor a cluster
	$(PYTEST) -n $(WORKERS) --dist worksteal $(HANGS) -m '$(OFFLINE)' $(ARGS)

coverage: $(VENV)/ready ## Run the same with branch coverage, and write docs/development/coverage.md (several minutes)
	rm -rf .cache/coverage && mkdir -p .cache/coverage
	-$(BIN)/coverage run --rcfile=tools/coverage.ini -m pytest -n auto --dist worksteal -m '$(OFFLINE)' $(ARGS)
	$(BIN)/coverage combine --rcfile=tools/coverage.ini --quiet
	$(BIN)/python tools/coverage_table.py

lint: $(VENV)/ready ## Check format, style, types and the layers of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/ready ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/ready ## Refresh the demo cluster, and what the docs generate: examples, schemas, figures, dependencies
	$(BIN)/python tools/demo_cluster.py
	$(BIN)/python tools/doc_examples.py
	$(BIN)/python tools/schemas.py
	$(BIN)/python tools/figures.py
	$(BIN)/python tools/screenshots.py
	$(BIN)/python tools/tui_keys.py
	$(BIN)/python tools/dependencies.py
	$(BIN)/python tools/completions.py
	$(BIN)/python tools/reason_index.py
	$(BIN)/python tools/command_reference.py

e2e: $(VENV)/ready ## Run the tests against a real control plane (Go needed; builds it once, about 15 minutes)
	. .ci/provide-go.sh && $(BIN)/python -m tests.controlplane build && $(PYTEST) -m controlplane $(ARGS)

e2e-controllers: $(VENV)/ready ## Run JobSet, LeaderWorkerSet, MPIJob and RayCluster with their own controllers (Go needed; builds them once)
	. .ci/provide-go.sh && $(BIN)/python -m tests.controlplane build && $(PYTEST) -m controllers $(ARGS)

e2e-matrix: $(VENV)/ready ## Run the core cases on real control planes of older releases (MINORS="1.30 1.31"; Go needed)
	. .ci/provide-go.sh && failed=; for minor in $(MINORS); do \
	  $(BIN)/python -m tests.controlplane --minor $$minor build && MINORS=$$minor $(PYTEST) -m matrix tests/matrix $(ARGS) \
	    || failed="$$failed $$minor"; \
	done; test -z "$$failed" || { echo "failed:$$failed" >&2; exit 1; }

differential: $(VENV)/ready ## Compare random cases with the real Go packages (Go needed)
	. .ci/provide-go.sh && $(PYTEST) -m go $(ARGS)

corpus: $(VENV)/ready ## Judge the rebuilt manifests of public projects (docs/development/corpus.md)
	$(PYTEST) -m 'not go and not controlplane' tests/corpus $(ARGS)

bench: $(VENV)/ready ## Measure every budget beside its peer, and write docs/development/performance.md (Go and kubectl where they are built)
	$(BIN)/python -m bench $(ARGS)

dist: $(VENV)/ready ## Build the wheel, the source distribution and the archive for krew into dist/
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python tools/archive.py

lowest: ## Run the tests of `make test` with the lowest versions that pyproject.toml allows
	@$(MAKE) VENV=.cache/lowest LOCK=lowest test

lock: ## Pin what development and building need, with hashes, after a change of pyproject.toml
	@$(PYTHON) tools/lock.py

clean: ## Remove everything that the other targets made
	rm -rf $(VENV) .cache dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The marker is newer than the locks when what they list is installed. Both name every file by its hash.
$(VENV)/ready: pyproject.toml requirements/pip.txt requirements/$(LOCK).txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python 3.11 or later is needed: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes --requirement requirements/pip.txt
	@$(PIP) --require-hashes --requirement requirements/$(LOCK).txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@# The byte code of the tests, once: each worker would make all of it for itself.
	@$(PYTEST) --collect-only -n0 -p no:cacheprovider -m '$(OFFLINE)' >/dev/null || true
	@touch $@
