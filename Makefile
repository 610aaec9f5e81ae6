# Everything from a bare Debian 12 (root or sudo) to a tested Assay. `make help` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help build demo test test-long test-peers test-cluster wheel lint format asan tsan fuzz bench bench-peers setup-build setup-test clean
MAKEFLAGS += --no-print-directory
# Set-up steps share apt and pip, which run one at a time; the builds below them are parallel.
.NOTPARALLEL:

VENV := build/venv
# Made by tools/make-peers, of the newest Python here that the peers are pinned for, or of PEERS_PYTHON.
PEERS := build/peers
# Spark and Ray, of the Python that build/venv has.
CLUSTER := build/cluster
# Wheels that the build takes files from: Arrow's library, and plotly.js for reports. Looked for when they are needed.
WHEELS = -DASSAY_ARROW_ROOT=$(abspath $(wildcard $(VENV)/lib/python3*/site-packages/pyarrow)) \
  -DASSAY_PLOTLY_JS=$(abspath $(wildcard $(VENV)/lib/python3*/site-packages/plotly/package_data/plotly.min.js))
# The Python package as it was just built, for whatever imports it.
PACKAGE := PYTHONPATH=$(CURDIR)/build/python
PYTEST := $(PACKAGE) $(VENV)/bin/python -m pytest -q -p no:cacheprovider
WHEEL := build/wheel
FUZZ_SECONDS ?= 60
HOSTILE_SECONDS ?= 7200
# Of what ctest prints, what the tests themselves said and the totals.
BRIEF := sed -nE -e '/^[0-9]+: *(Test command|Working Directory|Environment variables|GTEST_|ASAN_|ASSAY_[A-Z_]+=|Test timeout|Running main|$$)/d' -e 's/^[0-9]+: //p' -e '/tests passed|Failed|Errors while/p'
SHELL := /bin/bash -o pipefail

# Data sets that are not inside the program: the user's, else those of a data folder beside the checkout.
ifeq ($(origin ASSAY_DATA),undefined)
ifneq ($(wildcard ../shared/data/README.md),)
export ASSAY_DATA := $(abspath ../shared/data)
endif
endif

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup-build:
	@tools/install-packages tools/packages/build.txt
	@tools/make-venv $(VENV) tools/requirements/build.txt

setup-test: setup-build
	@tools/install-packages tools/packages/test.txt
	@tools/make-venv $(VENV) tools/requirements/test.txt

# The program, its library and the plugins whose libraries are there; nothing here needs the packages for tests.
build: setup-build ## Build the program (build/assay), the library and the Arrow plugin
	@cmake --preset release $(WHEELS) >build/configure.log 2>&1 \
	  || { cat build/configure.log; exit 1; }
	@cmake --build build

demo: build ## Build, then run the main job on embedded data: a study of Iris, training included
	@rm -rf build/demo
	@echo; echo '$$ build/assay study iris --out build/demo'; build/assay study iris --out build/demo

test: setup-test ## Build, then run every test that is not long
	@cmake --preset develop $(WHEELS) >build/configure.log 2>&1 \
	  || { cat build/configure.log; exit 1; }
	@cmake --build build
	@ctest --test-dir build --parallel 2 --verbose | $(BRIEF)
	@$(PYTEST) tests python/tests

test-long: test fuzz ## The tests, those that take minutes, the fuzzers for FUZZ_SECONDS each, spoilt files for HOSTILE_SECONDS, and a build of the benchmarks
	@cmake --preset develop -DASSAY_BENCHMARKS=ON >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build --target assay_benchmarks
	@HOSTILE_SECONDS=$(HOSTILE_SECONDS) $(PYTEST) tests/long --run-long

test-peers: build setup-test ## Compare with PyTorch, Captum, SHAP, Quantus, scikit-learn and others, in an environment of their own
	@cmake --preset develop >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build --target model_tests
	@tools/make-peers
	@$(PEERS)/bin/python -m pytest -q -p no:cacheprovider tests/peers --run-peers

test-cluster: build ## Run Spark and Ray on this machine, in an environment of their own: the bits of one process, killed workers
	@cmake --build build --target assay_python assay_python_package
	@tools/install-packages tools/packages/cluster.txt
	@tools/make-venv $(CLUSTER) tools/requirements/cluster.txt
	@$(PACKAGE) $(CLUSTER)/bin/python -m pytest -q -p no:cacheprovider tests/cluster --run-cluster

# What pip builds, with the packages of build/venv; auditwheel then puts the shared libraries that it needs inside.
wheel: setup-build ## Build a wheel that needs nothing but NumPy (build/wheel), and try it in an empty environment
	@mkdir -p $(WHEEL) && rm -rf $(WHEEL)/plain $(WHEEL)/venv $(WHEEL)/*.whl
	@echo "building the wheel in $(WHEEL)/cmake; minutes when it is the first"
	@$(VENV)/bin/pip wheel . --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir $(WHEEL)/plain \
	  --config-settings build-dir=$(WHEEL)/cmake >$(WHEEL)/build.log 2>&1 || { cat $(WHEEL)/build.log; exit 1; }
	@PATH=$(abspath $(VENV))/bin:$$PATH auditwheel repair --wheel-dir $(WHEEL) $(WHEEL)/plain/*.whl \
	  >$(WHEEL)/repair.log 2>&1 || { cat $(WHEEL)/repair.log; exit 1; }
	@$(VENV)/bin/python -m venv $(WHEEL)/venv
	@$(WHEEL)/venv/bin/pip install --quiet --disable-pip-version-check -c tools/requirements/test.txt $(WHEEL)/*.whl
	@cd $(WHEEL) && venv/bin/python $(CURDIR)/tests/install/smoke.py
	@$(VENV)/bin/auditwheel show $(WHEEL)/*.whl | sed -n '/consistent/,/"\./p'
	@du -h $(WHEEL)/*.whl

bench: setup-test ## Run the benchmarks of the library, measure what the Python package adds, and how near studies' estimates are; BENCH=--benchmark_filter=csv runs a part
	@cmake --preset develop -DASSAY_BENCHMARKS=ON >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build --target assay_benchmarks explain_rows assay_program
	@build/assay_benchmarks $(BENCH)
	@tools/make-peers
	@$(PEERS)/bin/python -W ignore benchmarks/python_overhead.py
	@$(PEERS)/bin/python -W ignore benchmarks/study_estimates.py

# Configured with the wheels, so that the program is the one that `make build` makes.
bench-peers: setup-test ## Measure Assay beside its peers in one run and write docs/benchmarks.md; BENCH=--quick takes three minutes
	@cmake --preset develop $(WHEELS) -DASSAY_BENCHMARKS=ON >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build --target assay_program assay_benchmarks
	@tools/make-peers
	@$(PEERS)/bin/python -W ignore benchmarks/peers $(BENCH)

lint: setup-test ## Check formatting, clang-tidy and ruff; LINT_SINCE=REV looks at files changed since then alone
	@tools/install-packages tools/packages/lint.txt
	@cmake --preset lint >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@tools/lint $(LINT_SINCE)
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .

format: setup-build ## Format all sources
	@tools/install-packages tools/packages/lint.txt
	@git ls-files -co --exclude-standard '*.h' '*.cpp' | xargs clang-format-19 -i
	@$(VENV)/bin/ruff format .

# SANITIZE=address leaves out UndefinedBehaviorSanitizer, which takes half of the build; STAGES='data|model' builds and
# runs the tests of these stages alone.
asan: setup-test ## Run the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@cmake --preset asan $(if $(SANITIZE),-DASSAY_SANITIZE=$(SANITIZE)) >/dev/null
	@cmake --build build/asan --target $(if $(STAGES),$(addsuffix _tests,$(subst |, ,$(STAGES))),assay_tests)
	@ctest --test-dir build/asan $(if $(STAGES),-R '^($(STAGES))_') --parallel 2 --verbose | $(BRIEF)

tsan: setup-test ## Run the C++ tests under ThreadSanitizer
	@cmake --preset tsan >/dev/null
	@cmake --build build/tsan --target assay_tests
	@ctest --test-dir build/tsan --parallel 2 --verbose | $(BRIEF)

fuzz: setup-build ## Run each fuzz target for FUZZ_SECONDS (60), or those that FUZZ names; RUNS=10000000 sets a number of inputs in place of a time
	@tools/install-packages tools/packages/fuzz.txt
	@cmake --preset fuzz >/dev/null
	@cmake --build build/fuzz --target assay_fuzzers
	@RUNS=$(RUNS) tools/fuzz build/fuzz $(FUZZ_SECONDS) $(FUZZ)

clean: ## Remove everything that was built
	rm -rf build
