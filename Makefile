# Everything lives in .venv, made from nothing but Python 3.11 or newer; a second run installs nothing again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test reproduce recovery hyperspectral bench calibration clean

help:
	@echo "make demo           learn a hypergraph from simulated signals and draw it, into demo/"
	@echo "make test           run all checks: linter, types, tests"
	@echo "make reproduce      run the paper's experiments: tables and figures into results/, a page into docs/ (minutes)"
	@echo "make recovery       what is recovered without the truth in hand, and where it breaks, into results/ (long)"
	@echo "make hyperspectral  classify a hyperspectral scene on learned hypergraphs (much quicker with a GPU)"
	@echo "make bench          print the tables of speed (minutes; needs about 12 GiB)"
	@echo "make calibration    print the table behind the default scale (minutes)"
	@echo "make clean          remove what the others made"

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "hsls needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + "; name another one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# The tests and the page run with one version of PyTorch.
$(VENV)/with-test $(VENV)/with-hyperspectral: PINS := torch==2.13.0

# One stamp for each set of extras: the install runs again only when the dependencies change.
$(VENV)/with-%: $(VENV)/made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]" $(PINS)
	@touch $@

demo: $(VENV)/with-draw
	$(BIN)/hsls demo --out demo

test: $(VENV)/with-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/python -m pytest

# The data are looked for in the folder that HSLS_DATA names, then in a cache, then fetched.
reproduce: $(VENV)/with-draw,data
	$(BIN)/hsls reproduce all --out results --page docs/reproduction.md

# Beyond the paper: the automatic choices against their oracles, and signals that are not those of the model.
recovery: $(VENV)/with-draw,data
	$(BIN)/hsls reproduce robustness --out results/robustness
	$(BIN)/hsls reproduce recovery --out results/recovery

# FEATURES names a folder of convolutional networks that were trained on another machine.
hyperspectral: $(VENV)/with-hyperspectral
	$(BIN)/hsls reproduce hyperspectral --protocol both --out results/hyperspectral --page docs/hyperspectral.md \
		$(if $(FEATURES),--features $(FEATURES))

bench: $(VENV)/with-bench
	$(BIN)/python -m benchmarks

calibration: $(VENV)/with-bench
	$(BIN)/python -m benchmarks calibration

clean:
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
