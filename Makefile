# The front door. Each target makes .venv itself where it is missing; `make demo` and `make test` need no Go, no cluster.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest
DEMO := $(BIN)/kubectl-dra --from demo

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs e2e differential bench dist clean

help: ## Show this list
	@sed -n 's/^\([a-z0-9]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: $(VENV)/ready ## Explain the pending pods of the built-in demo cluster
	@echo '$$ kubectl dra why-pending -A --from demo'
	@$(DEMO) why-pending -A
	@echo
	@echo '$$ kubectl dra why-pending trainer-0 -n ml --from demo'
	@$(DEMO) why-pending trainer-0 -n ml

test: $(VENV)/ready ## Run all tests that need neither Go nor a cluster
	$(PYTEST) -n auto -m 'not controlplane and not go and not bench and not shells and not tmux' $(ARGS)

lint: $(VENV)/ready ## Check format, style, types and the layers of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/ready ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/ready ## Refresh the demo cluster, and what the docs generate: examples, schemas, figures
	$(BIN)/python tools/demo_cluster.py
	$(BIN)/python tools/doc_examples.py
	$(BIN)/python tools/schemas.py
	$(BIN)/python tools/figures.py

e2e: $(VENV)/ready ## Run the tests against a real control plane (Go needed; builds it once, about 15 minutes)
	. .ci/provide-go.sh && $(BIN)/python -m tests.controlplane build && $(PYTEST) -m controlplane $(ARGS)

differential: $(VENV)/ready ## Compare random cases with the real Go packages (Go needed)
	. .ci/provide-go.sh && $(PYTEST) -m go $(ARGS)

bench: $(VENV)/ready ## Measure against the budgets, as ratios in the same run
	@for file in bench/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

dist: $(VENV)/ready ## Build the wheel, the source distribution and the archive for krew into dist/
	$(BIN)/python -m hatchling build -d dist
	$(BIN)/python tools/archive.py

clean: ## Remove everything that the other targets made
	rm -rf $(VENV) dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The marker is newer than pyproject.toml when the pinned tools of that file are installed.
$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python 3.11 or later is needed: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip==26.3'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev --editable .
	@touch $@
