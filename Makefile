# Everything a developer does here is a target below; `make` lists them.
SHELL := /bin/sh
HOST ?= 127.0.0.1
PORT ?= 8000
# What `make hostile` takes: minutes of attack, MB that the server may reach, kills, and hostile inputs.
MINUTES ?= 60
MEMORY ?= 2048
KILLS ?= 1000
FAULTS ?= 200
INPUTS ?= 100000
PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)

BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-annotate --no-emit-index-url --no-emit-find-links $(UPGRADE) pyproject.toml --extra sandbox

.DEFAULT_GOAL := help
.PHONY: help venv run test lint format types contracts golden screens questions thorough bench bench-figures bench-ui scale-test edits hostile dist pythons lock sbom audit

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: .venv/installed-dev ## Create .venv, or bring it up to the lock files

run: .venv/installed ## Serve the site on http://127.0.0.1:8000/ (PORT=8123 make run: on another port)
	@exec $(BIN)/python -m sandbox.server --prepare --bind $(HOST) --port $(PORT)

test: venv ## Run all tests, or some: make test ARGS='-k queue'
	$(PYTEST) $(ARGS)

lint: venv ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: venv ## Mend formatting and what else ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: venv ## Check types
	$(BIN)/mypy

contracts: venv ## Check who may import whom
	$(BIN)/lint-imports

golden: venv ## Rewrite the golden files of tests, to be read as a diff before committing
	$(BIN)/python -m pytest --golden $(ARGS)

screens: venv ## Photograph and measure every page and state into var/screens, or some: make screens ARGS='--only lesson'
	$(BIN)/python -m tests.screens $(ARGS)

thorough: venv ## Try all random cases of the engine, and 100 histories of each kind (HYPOTHESIS_EXAMPLES=2000 make thorough: 2000)
	HYPOTHESIS_EXAMPLES=$${HYPOTHESIS_EXAMPLES:-100} $(PYTEST) tests/engine tests/sandbox/panels $(ARGS)

bench: venv ## Measure the engine beside the last release's figures, or some rows: make bench ARGS='--only preemption'
	$(BIN)/python -m tests.bench $(ARGS)
	$(BIN)/python -m pytest tests/bench/test_validation.py --capture=no

bench-figures: venv ## Measure the engine, keep the figures, and write its table in docs/performance.md
	$(BIN)/python -m tests.bench --write

bench-ui: venv ## Measure from the click to what is painted, and write docs/performance.md: five minutes on a quiet machine
	$(BIN)/python -m tests.bench.ui --write $(ARGS)

scale-test: venv ## Measure one to three web processes with real servers: make scale-test ARGS='--people 60'
	$(BIN)/python -m tests.scale $(ARGS)

questions: venv ## Give every answer to every question of every lesson in Chromium, quickly and slowly: an hour or more
	EVERY_ANSWER=1 $(BIN)/python -m pytest tests/browser/test_every_lesson.py $(ARGS)

edits: venv ## Type into every form over a line of each speed, while others change the sandbox
	LATENCIES=0,50,200,1000 $(BIN)/python -m pytest tests/browser/test_edits.py

hostile: venv ## Attack, kill and reopen real servers for two hours: make hostile MINUTES=60 KILLS=1000 FAULTS=200 INPUTS=100000
	$(BIN)/python -m tests.hostile.attack --seconds $$(( $(MINUTES) * 60 )) --bound $(MEMORY) --cap $(MEMORY)
	$(BIN)/python -m tests.hostile.kills --kills $(KILLS)
	$(BIN)/python -m tests.hostile.chaos --faults $(FAULTS)
	$(BIN)/python -m tests.hostile.inputs --count $(INPUTS)
	$(BIN)/python -m tests.hostile.reopen
	$(BIN)/python -m tests.hostile.level

dist: venv ## Build the engine as a wheel and a source distribution into dist/
	$(BIN)/python -m hatchling build -d dist

pythons: venv ## Run quick tests of the engine under every installed Python that it supports
	$(BIN)/python -m tests.pythons $(ARGS)

sbom: venv ## List the site's dependencies with versions and hashes in dist/sbom.json (CycloneDX)
	@mkdir -p dist
	$(BIN)/cyclonedx-py requirements --output-reproducible --output-format JSON --output-file dist/sbom.json requirements.txt

audit: venv ## Ask PyPI for known weaknesses of the locked versions
	$(BIN)/pip-audit --requirement requirements.txt --require-hashes --disable-pip --strict

lock: venv ## Compile the lock files (UPGRADE=--upgrade make lock: to the newest versions)
	$(COMPILE) --output-file requirements.txt
	$(COMPILE) --group dev --constraint requirements.txt --output-file requirements-dev.txt

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: PYTHON=… make run")'
	$(PYTHON) -m venv .venv

.venv/installed: requirements.txt | .venv/bin/python
	$(PIP_INSTALL) --requirement $<
	@touch $@

.venv/installed-dev: requirements-dev.txt .venv/installed
	$(PIP_INSTALL) --requirement $<
	@touch $@
