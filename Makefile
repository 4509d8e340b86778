# Comanda with one command. `make run` needs Python 3.11 or newer and make, nothing else.

PYTHON ?= python3
BIN := .venv/bin
# What is passed on to pytest or the benchmarks: make test ARGS="-k turn"
ARGS ?=

# Packages are installed uncompiled and keep their bytecode when they are first imported: where
# that is forbidden, each of the many processes would spend seconds on compiling them again.
unexport PYTHONDONTWRITEBYTECODE

CATALOGS := $(patsubst %.po,%.mo,$(wildcard app/translations/*/LC_MESSAGES/*.po))

.DEFAULT_GOAL := run
.PHONY: run services setup setup-tests setup-browser test check bench soak nlu lock clean

## Serve Comanda on http://127.0.0.1:8000 with everything it needs
run: setup
	@exec $(BIN)/python -m app.embedded

## Run Postgres and Redis alone, migrated
services: setup
	@exec $(BIN)/python -m app.embedded --services-only

## Prepare the environment for running
setup:
	@$(PYTHON) .ci/environment.py runtime
	@$(MAKE) --no-print-directory catalogs

setup-tests:
	@$(PYTHON) .ci/environment.py tests
	@$(MAKE) --no-print-directory catalogs

setup-browser: setup-tests
	@$(PYTHON) .ci/environment.py browser

# After the environment is there, because compiling needs it.
.PHONY: catalogs
catalogs: $(CATALOGS)
	@:

%.mo: %.po
	@$(BIN)/pybabel --quiet compile -i $< -o $@

## Run all tests, in the browser too
test: setup-browser
	@$(BIN)/python .ci/tests.py $(ARGS)

## Run the linters, the type checker and the tests of the design rules
check: setup-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict app
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/python .ci/catalog.py
	$(BIN)/python -m pytest -q tests/test_architecture.py tests/architecture/test_design.py

## Measure it; the results are JSON files in bench/results
bench: setup-browser
	$(BIN)/python -m bench $(ARGS)

## Run the tests that take minutes
soak: setup-browser
	$(BIN)/python -m pytest -m soak --timeout=1800 $(ARGS)

## Bring the catalogs in step with the texts of the code and the templates
.PHONY: texts
texts: setup-tests
	$(BIN)/python .ci/catalog.py --write
	@$(MAKE) --no-print-directory catalogs

## Learn from the sentences what messages are for, and measure it
nlu: setup-tests
	$(BIN)/python -m app.nlu.trainer

## Pin the requirements anew (ARGS=--upgrade takes the newest versions)
UV_COMPILE = $(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --quiet $(ARGS)
lock: setup-tests
	$(UV_COMPILE) requirements.in -o requirements.txt
	$(UV_COMPILE) requirements-dev.in -o requirements-dev.txt

## Remove what was installed and compiled; the data in var/ stays
clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis $(CATALOGS)
	find app migrations tests bench -name __pycache__ -type d -prune -exec rm -rf {} +
