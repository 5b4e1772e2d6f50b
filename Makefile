# Everything runs in .venv, made from nothing: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help install demo test lint bench clean

help:
	@echo "make demo     install, then train, extract and evaluate on real text (about two minutes)"
	@echo "make test     install, then lint, type-check and test"
	@echo "make lint     ruff and mypy --strict"
	@echo "make bench    all benchmarks, quick (WFALENS_DATA: folder with the real data)"
	@echo "make install  .venv with every extra"

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
	$(BIN)/pytest

bench: install
	for name in extraction inference scaling completion explanation faithfulness attack fidelity abstractions \
		limits tomita languages checking explorer streaming merging; do \
		$(BIN)/python benchmarks/$$name.py --quick || exit 1; done

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build src/*.egg-info
