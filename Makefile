# Every target prepares what it needs; a fresh machine needs only Python 3.11+, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# Where this is set, as in many containers, every command of a test would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-real soak lint bench format clean

demo: $(VENV)/.base
	$(BIN)/steer demo

# A test waits for other processes nearly half of its time: three of them keep two cores busy.
test: $(VENV)/.test $(VENV)/.fixtures
	$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

# Machines of their own (network namespaces), containers, other agent programs.
test-real: $(VENV)/.test $(VENV)/.fixtures
	$(BIN)/python -m pytest -m real $(ARGS)

# Two hundred rounds of faults on each store, about an hour; two thousand of commands, half of one.
# A hundred lines to another machine, cut over loopback and between two networks, five minutes.
soak: $(VENV)/.test $(VENV)/.fixtures
	$(BIN)/python -m pytest -n 2 -m soak tests/faults tests/fuzz tests/crash tests/host tests/cli tests/tui tests/real $(ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf $(VENV) .fixtures .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A new pip writes a start script that imports nothing; an old one makes every start slower.
$(VENV)/.pip:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade pip
	touch $@

$(VENV)/.base: $(VENV)/.pip pyproject.toml
	$(PIP) install --quiet --editable '.[tools,code,mcp,web]'
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(PIP) install --quiet --editable '.[test]'
	touch $@

# Real servers, tools and repositories that tests work with, in .fixtures/.
$(VENV)/.fixtures: $(VENV)/.test tests/provision.py
	$(BIN)/python -m tests.provision
	touch $@

$(VENV)/.lint: $(VENV)/.base
	$(PIP) install --quiet --editable '.[lint,model-server,postgres]'
	touch $@
