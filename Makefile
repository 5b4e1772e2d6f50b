# Everything runs in .venv, made from nothing: make demo, make test.
# Tests run in as many processes as there are cores (at most four), each with one thread.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal
BENCHMARKS := $(filter-out benchmarks/common.py,$(wildcard benchmarks/*.py))

.PHONY: help install demo test test-slow lint bench clean

help:
	@echo "make demo       install, then train, extract and evaluate on real text (about two minutes)"
	@echo "make test       install, then lint, type-check and test (about four minutes)"
	@echo "make test-slow  the long tests: clusters, kills, full disks, browsers, the whole reproduction"
	@echo "make lint       ruff, mypy --strict and the order of the packages"
	@echo "make bench      all benchmarks, quick (WFALENS_DATA: folder with the real data)"
	@echo "make install    .venv with every extra"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[explore,ray,verify,onnx,transformers,dev]'
	@touch $(STAMP)

demo: install
	$(BIN)/wfalens demo

lint: install
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports

test: lint
	$(PYTEST) -m "not slow"

test-slow: install
	$(PYTEST) -m slow --dist loadfile

bench: install
	for program in $(BENCHMARKS); do $(BIN)/python $$program --quick || exit 1; done

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build src/*.egg-info
