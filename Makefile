# Everything runs in .venv, made once; the stamp is older than pyproject.toml when it must be made anew.
# PY=python3.12 chooses the interpreter, CUDA=1 adds the CUDA scan (see docs/cuda.md).
PY ?= python3
BIN := .venv/bin
EXTRAS := test,lint$(if $(CUDA),$(comma)cuda)
comma := ,
STAMP := .venv/.installed$(if $(CUDA),-cuda)
export OMP_NUM_THREADS ?= 1

.PHONY: install run test test-all lint format bench bench-scan soak clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PY) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(CUDA),,--constraint constraints.txt) --editable ".[$(EXTRAS)]"
	touch $(STAMP)

run: install
	$(BIN)/bench run --models all --datasets all --preset demo --jobs 2

test: install
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-all: install
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install
	$(BIN)/python -m benchmarks

bench-scan: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt mambapy
	$(BIN)/python -m benchmarks.bench_scan

soak: install
	$(BIN)/python -m benchmarks.soak

clean:
	rm -rf .venv build dist .ruff_cache .hypothesis
