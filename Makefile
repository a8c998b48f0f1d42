# Everything runs in .venv, made once; a stamp is older than pyproject.toml when its packages must be installed anew.
# PY=python3.12 chooses the interpreter, CUDA=1 adds the CUDA scan (see docs/cuda.md).
PY ?= python3
BIN := .venv/bin
# Python compiles what it imports; of most packages that is little, and compiling all of them takes as long as the rest.
PIP := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check $(if $(CUDA),,--constraint constraints.txt)
STAMP := .venv/.installed$(if $(CUDA),-cuda)
TOOLS := .venv/.tools$(if $(CUDA),-cuda)
OLDEST := .venv-oldest/.installed
export OMP_NUM_THREADS ?= 1
# What the first import compiles is kept, also where the environment says otherwise.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install run test test-grid test-oldest test-all lint format bench bench-scan gpu-check soak clean

install: $(STAMP)

# The CUDA scan is built against the torch that is there, so torch and the tools of both builds come first.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PY) -m venv .venv
ifdef CUDA
	$(PIP) "torch>=2.6,<2.11" editables hatchling ninja packaging setuptools wheel
	MAMBA_KEEP_CUDA_BUILD=TRUE $(PIP) --no-build-isolation --editable ".[cuda]"
else
	$(PIP) --editable .
endif
	touch $(STAMP)

$(TOOLS): $(STAMP)
	$(PIP) --editable ".[test,lint]"
	touch $(TOOLS)

run: install
	$(BIN)/bench run --models all --datasets all --preset demo --jobs 2

test: $(TOOLS)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

# What a grid must survive: a cluster that loses a part, random kills (3 models x 2 datasets x 1 seed), and two minutes
# of the campaign of faults and damaged inputs (docs/reliability.md).
test-grid: $(TOOLS)
	$(BIN)/python -m pytest -n 0 -m slow tests/run/test_ray.py
	$(BIN)/python -m benchmarks.soak --models transformer,medmamba,informer --datasets uci-har,apava --seeds 41 --every 3
	rm -rf build/campaign
	$(BIN)/python -m benchmarks.campaign --minutes 2 --faults 60 --inputs 60 --folder build/campaign

# Readers and trainers with the oldest libraries that pyproject.toml allows, in an environment of its own.
test-oldest: $(OLDEST)
	.venv-oldest/bin/python -m pytest -m "not slow" tests/corpus tests/datasets tests/train tests/results

# Old versions have no builds for new interpreters: better no environment than hours of compiling.
$(OLDEST): pyproject.toml constraints-oldest.txt
	test -x .venv-oldest/bin/python || $(PY) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt \
		--only-binary h5py,mne,numpy,pandas,scikit-learn,scipy,wfdb --editable . pytest hypothesis
	touch $(OLDEST)

test-all: $(TOOLS)
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

format: $(TOOLS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, into build/site; a warning is an error.
.PHONY: docs
docs: $(STAMP)
	$(PIP) --editable ".[docs]"
	$(BIN)/python -m mkdocs build --strict --config-file docs/site/mkdocs.yml

bench: $(TOOLS)
	$(BIN)/python -m benchmarks

bench-scan: $(TOOLS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt mambapy
	$(BIN)/python -m benchmarks.bench_scan

# One command for whoever has a card: plain pip, no compiler of CUDA. An environment of its own, as constraints.txt is for
# CPUs; what pip takes for torch is its CUDA build (on Linux), for ROCm set PIP_INDEX_URL to torch's own index.
gpu-check:
	test -x .venv-gpu/bin/python || $(PY) -m venv .venv-gpu
	.venv-gpu/bin/python -m pip install --quiet --disable-pip-version-check --editable . pytest
	.venv-gpu/bin/python -m benchmarks.gpu_check $(GPU_CHECK)

soak: $(TOOLS)
	$(BIN)/python -m benchmarks.soak $(SOAK)

clean:
	rm -rf .venv .venv-oldest build dist .ruff_cache .hypothesis
