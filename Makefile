# make selfplay   sets up a virtual environment and trains an Oware agent for about five minutes
# make test       sets up and runs the tests
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: selfplay test slow lint format types jit-off bounds bench clean

selfplay: $(VENV)/train
	$(BIN)/python -m training.selfplay --config oware_quick

test: $(VENV)/dev
	$(PYTEST)

slow: $(VENV)/dev
	$(PYTEST) -m slow

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/dev
	$(BIN)/mypy

jit-off: $(VENV)/dev  # the kernels as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "jit_off and not slow"

bounds: $(VENV)/dev  # every index of every kernel checked
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -m "bounds and not slow"

bench: $(VENV)/dev
	$(BIN)/python -m envs.benchmark

$(VENV)/train: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[train,render]'
	touch $@

$(VENV)/dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
