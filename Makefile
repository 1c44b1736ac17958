# Every target does its own set-up in .venv. PYTHON=... picks the interpreter; without it the newest usable one is found.

SHELL := /bin/bash
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/peers/.installed
PIP   := $(BIN)/python -m pip --disable-pip-version-check -qq install --constraint constraints.txt

# Python 3.11 up to the newest that the pinned numba supports, with what `python -m venv` needs.
USABLE     := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))
CANDIDATES := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
FOUND       = $(shell for p in $(CANDIDATES); do "$$p" -c '$(USABLE)' 2>/dev/null && { echo "$$p"; break; }; done)
NO_PYTHON   = schedlab needs Python 3.11 to 3.14 with its venv module (tried: $(CANDIDATES)); name one with make PYTHON=/path/to/python

PYTEST_WORKERS ?= auto
TEST := $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadfile

.PHONY: setup report test test-all lint lab bench bench-limit gallery clean python

setup: $(STAMP)

# Checked when something has to be installed, and whenever an interpreter was asked for by name.
python:
	@$(if $(PYTHON)$(if $(wildcard $(STAMP)),,look),$(if $(FOUND),:,$(error $(NO_PYTHON))),:)

$(STAMP): pyproject.toml constraints.txt | python
	@echo "Installing schedlab into $(VENV) (a few minutes the first time)" >&2
	@{ $(BIN)/python -c '$(USABLE)' && $(BIN)/python -m pip --version; } >/dev/null 2>&1 || $(FOUND) -m venv --clear $(VENV)
	@$(PIP) hatchling
	@$(PIP) --no-build-isolation --editable '.[test]'
	@touch $@

report: $(STAMP)
	@$(BIN)/schedlab report

test: $(STAMP)
	@$(TEST) -m "not slow"

test-all: $(STAMP)
	@$(TEST)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

# Opens on the start page. Its settings come from notebooks/.lab: Markdown opens rendered, no news are fetched.
LAB_CONFIG = $(CURDIR)/notebooks/.lab$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}

lab: $(STAMP)
	@JUPYTER_CONFIG_PATH="$(LAB_CONFIG)" $(BIN)/jupyter lab notebooks --LabApp.default_url=/lab/tree/README.md

# SimSo insists on SimPy 2.3.1, which must not take the place of SimPy 4: it gets a folder of its own.
$(PEERS): $(STAMP)
	@$(PIP) --no-build-isolation --editable '.[peers]'
	@$(BIN)/python -m pip --disable-pip-version-check -qq install --no-deps --upgrade --target $(VENV)/peers simso==0.8.5 SimPy==2.3.1
	@rm -rf $(@D)/simpy-*.dist-info
	@touch $@

bench: $(STAMP)
	@$(MAKE) --no-print-directory $(PEERS) 2>/dev/null || echo "SimSo and SimPy could not be installed: the benchmark leaves them out" >&2
	@PYTHONPATH=$(VENV)/peers $(BIN)/schedlab bench

bench-limit: $(STAMP)
	@CC="$(CC)" $(BIN)/python benchmarks/limit.py

gallery: report
	@$(BIN)/schedlab gallery

clean:
	@rm -rf $(VENV) build dist
