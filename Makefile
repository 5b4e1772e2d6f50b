# Everything runs in .venv, made from nothing: make demo, make test.
# Tests run in as many processes as there are cores (at most four), each with one thread.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.demo-installed
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal --durations=40 --durations-min=1
BENCHMARKS := $(filter-out $(addprefix benchmarks/,common.py published_models.py scorers.py report%.py),$(wildcard benchmarks/*.py))
BENCH_ARGS ?= --quick
PAPER_ARGS ?=

PIP_ARGS ?=

.PHONY: help install demo test test-quick test-slow lint lint-pages bench bench-report paper docs release clean

help:
	@echo "make demo       install what it needs, then train, extract and evaluate on real text (two to three minutes)"
	@echo "make test       install, then lint, type-check and test side by side (three to four minutes)"
	@echo "make test-quick the quick tests alone"
	@echo "make test-slow  the long tests: clusters, kills, full disks, browsers, the whole reproduction"
	@echo "make lint       ruff, mypy --strict and the order of the packages"
	@echo "make lint-pages Prettier and ESLint on the page's JavaScript and CSS (needs npm; skipped without)"
	@echo "make bench      all benchmarks, quick (WFALENS_DATA: folder with the real data)"
	@echo "make bench-report  the same, kept as JSON and written into the docs with date, machine and versions (BENCH_ARGS= for full size)"
	@echo "make paper      every table and figure of the paper (PAPER_ARGS=--quick for a small version)"
	@echo "make docs       the documentation site, into build/site; offline, fails on a warning"
	@echo "make release    wheel and sdist into dist/; both are tried in fresh environments of every Python that is installed"
	@echo "make install    .venv with every extra (PIP_ARGS: further arguments of pip)"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@echo "installing wfalens with everything that its tests need into $(VENV): about 4 GB, some minutes"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[dev]' $(PIP_ARGS)
	@touch $(STAMP) $(DEMO_STAMP)

# the demo needs less than the tests: what those have installed will do
$(DEMO_STAMP): pyproject.toml constraints.txt
	@echo "installing wfalens with what its demo needs into $(VENV): about 2 GB, a few minutes"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt \
		-e '.[demo,explore]' $(PIP_ARGS)
	@touch $(DEMO_STAMP)

demo: $(DEMO_STAMP)
	$(BIN)/wfalens demo

lint: install
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy --strict src
	$(BIN)/lint-imports

lint-pages:
	@if ! command -v npm >/dev/null; then echo "npm is not installed: the page's JavaScript and CSS are not checked"; \
	elif [ -d node_modules/prettier ] || npm install --silent --no-audit --no-fund --no-package-lock; then npm run --silent lint; \
	else echo "npm could not install Prettier and ESLint: the page's JavaScript and CSS are not checked"; fi

test: install
	$(MAKE) --no-print-directory -j 2 lint test-quick

test-quick: install
	$(PYTEST) -m "not slow"

test-slow: install
	$(PYTEST) -m slow --dist loadfile

bench: install
	for program in $(BENCHMARKS); do $(BIN)/python $$program --quick || exit 1; done

paper: install
	$(BIN)/python -m benchmarks.paper $(PAPER_ARGS)

bench-report: install
	$(BIN)/python benchmarks/report.py $(BENCH_ARGS)

docs: install
	NO_MKDOCS_2_WARNING=1 PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/mkdocs build --quiet --strict
	@echo "wrote build/site/index.html"

release: install
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m tests.wheel dist $(PIP_ARGS)

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build src/*.egg-info node_modules
