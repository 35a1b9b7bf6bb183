# One command each: run, test, check, bench, docs. `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
RUNS   := $(VENV)/.runs
JOBS   ?= 2
PEERS  ?=
QUICK  ?=
ONLY   ?=
SEED   ?=
CLIENT ?= sonnet
LOWEST := .venv-lowest
TESTS  ?=
# Tests start hundreds of processes that import the package: Python keeps what it compiles,
# whatever the environment says (0.35 s of processor time for an import, not 0.95 s).
export PYTHONDONTWRITEBYTECODE =
KERAS_TESTS ?= losses metrics layers/activations layers/normalization

.PHONY: help run test test-lowest prepared wheels keras-tests keras-smoke client-tests check types architecture bench \
	bench-first-calls bench-programs docs site release-check clean \
	xla-tests hunt fuzz kills soak serving test-export export-tools demo

help:
	@echo "make run    set up .venv and run the main example"
	@echo "make test   all tests; test-lowest with the oldest versions allowed (PYTHON=python3.11)"
	@echo "make test-export  exported libraries on emulators of other processors, in node and in a browser;"
	@echo "            make export-tools installs these, for root on Debian"
	@echo "make demo   the page of examples/web_digits, in demo/"
	@echo "make wheels the distributions intaglio and tensorflow-intaglio, in dist/"
	@echo "make keras-tests  Keras' own tests; KERAS_TESTS=folders under keras/src"
	@echo "make keras-smoke  some 400 of them, in half a minute"
	@echo "make client-tests  another library's example and own tests; CLIENT=sonnet, einops (installed in .venv)"
	@echo "make xla-tests  the samples of all ops as XLA programs"
	@echo "make check  format, lint, types, layers, architecture tests"
	@echo "make bench  measure; PEERS=tensorflow,jax,torch builds their environments too"
	@echo "make bench-programs  whole programs against TensorFlow; QUICK=1, ONLY=pattern, SEED=number"
	@echo "make bench-first-calls  first calls against TensorFlow, with nothing compiled before"
	@echo "make hunt   random programs, N=number; fuzz, kills, soak, serving likewise: tables in docs/trust.md"
	@echo "make docs   write docs/coverage.md, docs/keras.md, the diagrams of docs/architecture.md"
	@echo "            and the outputs in README and docs/tour anew"
	@echo "make site   the documentation in build/site; its environment is .venv-site"
	@echo "make release-check  wheel and sdist built, checked, installed into new environments, run"

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $(STAMP)

# What the example needs, a small part of `dev`; nothing where that is installed. Python compiles
# modules when they are imported: most of scikit-learn and SciPy never are.
$(RUNS): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test $(STAMP) -nt pyproject.toml || \
		$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check \
			-e ".[jit,examples]"
	touch $(RUNS)

run: $(RUNS)
	$(BIN)/intaglio run examples/cutmix_digits.py

# Tests that fork hundreds of times. They run first, in processes of their own: after thousands of other tests
# a worker has 3 GB, whose page tables each fork copies (330 s instead of 50).
FORKING := tests/saved_model/test_killed.py tests/base/test_replacing.py

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(FORKING)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(addprefix --ignore=,$(FORKING))

# The oldest versions that pyproject.toml allows, in an environment of their own; TESTS selects.
test-lowest:
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(PYTHON) -m tests.lowest_versions > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r $(LOWEST)/requirements.txt -e .
	$(LOWEST)/bin/python -m pytest -n $(JOBS) --dist loadfile $(TESTS)

# Libraries for other processors, which run under qemu-user, in node and in a browser, and under
# AddressSanitizer; what is not installed is skipped, and named.
test-export: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[export]"
	$(BIN)/python -m pytest -n $(JOBS) -m targets -rs tests/export

# What test-export runs libraries with, on Debian and its like, where this user may install it.
EXPORT_TOOLS := cc:gcc qemu-aarch64-static:qemu-user-static node:nodejs chromium:chromium
export-tools:
	@missing=$$(for pair in $(EXPORT_TOOLS); do \
		command -v $${pair%%:*} > /dev/null || echo $${pair##*:}; done); \
	if test -z "$$missing"; then exit 0; fi; \
	if test "$$(id -u)" = 0 && command -v apt-get > /dev/null; then \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing || \
			echo "not installed:" $$missing; \
	else echo "not installed:" $$missing; fi

# The page with the network of `make run`, trained in a few seconds, as WebAssembly.
demo: $(RUNS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[export]"
	$(BIN)/python examples/web_digits/build.py demo

# Machine code for the levels of x86-64 that this processor has, which wheels bring along.
prepared: $(STAMP)
	$(BIN)/python -m intaglio.tools.preparation

wheels: prepared
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist \
		. packages/tensorflow-intaglio

keras-tests: $(STAMP)
	site=$$($(BIN)/python -c "import importlib.util as u; print(u.find_spec('keras').submodule_search_locations[0])") && \
	$(BIN)/python -m pytest -q -p tests.tensorflow_name.suite -p tests.tensorflow_name.outcomes -p no:cacheprovider -c /dev/null \
		--rootdir $$site --continue-on-collection-errors $(addprefix $$site/src/,$(KERAS_TESTS))

keras-smoke: $(STAMP)
	$(MAKE) --no-print-directory keras-tests KERAS_TESTS="$$(tr '\n' ' ' < tests/tensorflow_name/smoke.txt)"

xla-tests: $(STAMP)
	INTAGLIO_XLA_SAMPLES=all $(BIN)/python -m pytest tests/xla -n $(JOBS)

client-tests: $(STAMP)
	test ! -e tests/clients/examples/$(CLIENT)_example.py || CLIENTS_PYTHON=$(BIN)/python $(BIN)/python -m tests.clients $(CLIENT)
	site=$$($(BIN)/python -c "import importlib.util as u; print(u.find_spec('$(CLIENT)').submodule_search_locations[0])") && \
	EINOPS_TEST_BACKENDS=tensorflow,numpy $(BIN)/python -m pytest -q -p tests.tensorflow_name.suite -p tests.tensorflow_name.outcomes \
		-p no:cacheprovider -c /dev/null -o "python_files=test_*.py *_test.py" --rootdir $$(dirname $$site) \
		--continue-on-collection-errors $$site

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory --output-sync --jobs 2 types architecture

types: $(STAMP)
	$(BIN)/pyright

architecture: $(STAMP)
	$(BIN)/python -m pytest tests/architecture

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(if $(PEERS),--peers $(PEERS))

bench-first-calls: $(STAMP)
	$(BIN)/python -m benchmarks.first_calls

bench-programs: $(STAMP)
	$(BIN)/python -m benchmarks.programs $(if $(QUICK),--quick) $(if $(ONLY),--only '$(ONLY)') \
		$(if $(SEED),--seed $(SEED))

hunt fuzz kills soak serving: $(STAMP)
	$(BIN)/python -m trust.$@ $(if $(N),--count $(N)) --write

docs: $(STAMP)
	$(BIN)/python -m docs.coverage
	$(BIN)/python -m docs.keras
	$(BIN)/python -m docs.beyond
	$(BIN)/python -m docs.clients
	$(BIN)/python -m docs.error_codes
	$(BIN)/python -m docs.xla
	$(BIN)/python -m docs.onnx
	$(BIN)/python -m docs.layer_diagrams
	$(BIN)/python -m docs.type_stub
	$(BIN)/python -m docs.pages --write

# The documentation as pages to open from disk, in build/site; the reference comes from docstrings.
SITE := .venv-site
site:
	test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	$(SITE)/bin/python -m mkdocs build --strict

# What a release needs, without publishing: both forms built, their metadata checked, the wheel and then
# the sdist installed into new environments, a program run in each.
release-check: prepared
	$(PYTHON) -m tests.release build/release

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis
