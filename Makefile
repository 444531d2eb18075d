# Two commands: `make demo` and `make test`. Each installs what it needs into $(VENV).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# Small matrices: a second BLAS thread only costs. Tests run on all cores instead.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
export MPLBACKEND ?= Agg

.PHONY: demo test test-slow docs release-check fuzz lint bench clean

demo: $(VENV)/.demo
	$(BIN)/infgp demo

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -q
	$(BIN)/infgp bench run --suite smoke --jobs 2

test-slow: $(VENV)/.test
	$(BIN)/pip install -q -c constraints.txt -e '.[test,ray]'
	$(BIN)/python -m pytest -n 2 --dist worksteal -q -m slow

# The site in site/, whose links and loads are checked; open site/index.html, no server is needed.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	$(BIN)/python docs/check_site.py site

# Wheel and sdist, installed into empty environments and used: make release-check PYTHONS=python3.11,python3.12,python3.13
PYTHONS ?= $(PYTHON)
release-check: $(VENV)/bin/python
	$(BIN)/pip install -q -e '.[release]'
	$(BIN)/python -m tests.release --pythons $(PYTHONS)

# The hunt for hangs, crashes and raw errors: make fuzz MINUTES=30 SEED=1000
MINUTES ?= 5
SEED ?= 0
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) --jobs 2
	$(BIN)/python -m tests.fuzz.machines --examples 200 --seed $(SEED)
	$(BIN)/python -m pip install -q -e .[fuzz]
	for name in files spaces urls; do $(BIN)/python -m tests.fuzz.coverage $$name --seconds 60 || exit 1; done

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.gibbs_vs_literal
	$(BIN)/python -m benchmarks.sweep_cost
	$(BIN)/python -m benchmarks.cold_start
	$(BIN)/python -m benchmarks.ask_latency
	$(BIN)/python -m benchmarks.optuna_overhead

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install -q -e '.[plot]'
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install -q -e '.[docs]'
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install -q -c constraints.txt -e '.[test]'
	touch $@

clean:
	rm -rf $(VENV) site dist .mypy_cache .pytest_cache .ruff_cache infgp-demo.png
