# make demo   everything from nothing: builds, runs the quickstart notebook, prints the ten most expensive ops
# make lab    JupyterLab on the notebooks
# make test   lint, types, TypeScript, Python, house rules, notebooks, browser
#
# Everything is installed into .venv the way a user installs it: from a wheel, which is built again when a source
# changed. Tests import the Python of the tree (the wheel's is the same, a house test compares them); kernels and
# JupyterLab servers that tests start use what is installed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
MARK := $(VENV)/.made
ROOT_OPTION := $(if $(filter 0,$(shell id -u)),--allow-root)

# npm, pip, Jupyter and IPython all write into the home folder.
ifneq ($(shell probe=$$(mktemp -d "$$HOME/.xprof-nb-XXXXXX" 2>/dev/null) && rmdir "$$probe" && echo writable),writable)
export HOME := $(CURDIR)/$(VENV)/home
$(shell mkdir -p "$(CURDIR)/$(VENV)/home")
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export npm_config_fund := false
export npm_config_audit := false
export npm_config_update_notifier := false

find_files = $(shell find $(1) -name node_modules -prune -o -name lib -prune -o -name __pycache__ -prune \
	-o -name '*.tsbuildinfo' -o -type f -print 2>/dev/null | sed 's/ /\\ /g')
MANIFESTS := package.json package-lock.json xprof_nb/frontend/package.json labextension/package.json
FRONTEND := $(MANIFESTS) $(call find_files,xprof_nb/frontend labextension)
PACKAGED := $(call find_files,xprof_nb/*.py xprof_nb/*/ jupyter-config) pyproject.toml install.json README.md LICENSE THIRD_PARTY_LICENSES
PACKAGED := $(filter-out xprof_nb/frontend/% xprof_nb/static/% xprof_nb/labextension/%,$(PACKAGED))

.PHONY: demo lab test build bench clean distclean lint typecheck format test-python test-typescript test-notebooks \
	test-browser chromium
.DEFAULT_GOAL := demo
.DELETE_ON_ERROR:

demo: $(MARK)/installed
	$(RUN) python notebooks/run_demo.py

# The side panel lists what the notebooks captured, and what the demo did.
lab: $(MARK)/installed
	cd notebooks && PATH="$(CURDIR)/$(BIN):$$PATH" jupyter lab $(ROOT_OPTION) \
		--XprofNb.logdirs="$(CURDIR)/demo-output/xprof-logs" $(LAB_OPTIONS)

# What fails fast comes first; Chromium is looked for before anything long begins.
test: chromium lint typecheck test-typescript test-python test-notebooks test-browser
	@echo "All tests passed."

lint: $(MARK)/installed $(MARK)/npm
	$(RUN) ruff check
	$(RUN) ruff format --check
	npm run lint

format: $(MARK)/installed $(MARK)/npm
	$(RUN) ruff check --fix
	$(RUN) ruff format
	npx biome check --write xprof_nb/frontend labextension

typecheck: $(MARK)/installed
	$(RUN) mypy

test-typescript: $(MARK)/npm
	npm test

# Two processes even on a small machine: much of what these tests do is waiting for another process. A file's tests stay
# together, since they share what its fixtures made; files with few tests are not kept for the end, since they are long ones.
WORKERS ?= 2
PARALLEL := --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

test-python: $(MARK)/installed
	$(RUN) pytest -m "not browser and not notebook" $(PARALLEL) $(PYTEST_OPTIONS)

test-notebooks: $(MARK)/installed
	$(RUN) pytest -m notebook $(PYTEST_OPTIONS)

test-browser: chromium $(MARK)/installed
	rm -rf test-output/screenshots
	$(RUN) CHROMIUM="$$(scripts/chromium.sh)" pytest -m browser $(PARALLEL) $(PYTEST_OPTIONS)

chromium:
	@scripts/chromium.sh >/dev/null

build: $(MARK)/wheel

bench: $(MARK)/installed
	$(RUN) python tests/bench/decode.py

$(MARK)/venv:
	@scripts/check_tools.sh $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(MARK) && touch $@

# What building a wheel needs, as pyproject.toml states it.
$(MARK)/tools: pyproject.toml | $(MARK)/venv
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		> $(MARK)/build-requirements.txt
	$(BIN)/python -m pip install --quiet build -r $(MARK)/build-requirements.txt
	@touch $@

# No package here needs its install scripts. Registries hiccup: one more try.
$(MARK)/npm: $(MANIFESTS) | $(MARK)/venv
	npm ci --ignore-scripts || { echo "npm failed; trying once more." >&2; sleep 5; npm ci --ignore-scripts; }
	@touch $@

$(MARK)/frontend: $(FRONTEND) $(MARK)/npm $(MARK)/tools
	$(RUN) npm run build:prod
	@touch $@

$(MARK)/wheel: $(PACKAGED) $(MARK)/frontend
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation
	@touch $@

# The first call brings what the wheel needs; the second replaces a wheel of the same version.
$(MARK)/installed: $(MARK)/wheel
	@echo "Installing xprof_nb and what it needs; the first time this takes a few minutes."
	$(BIN)/python -m pip install --quiet "$$(echo dist/xprof_nb-*.whl)[dev]"
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps dist/xprof_nb-*.whl
	@touch $@

clean:
	rm -rf dist build xprof_nb/static xprof_nb/labextension xprof_nb/frontend/lib labextension/lib demo-output test-output
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find xprof_nb labextension -name '*.tsbuildinfo' -not -path '*/node_modules/*' -delete
	find xprof_nb tests -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f $(MARK)/frontend $(MARK)/wheel $(MARK)/installed

distclean: clean
	rm -rf $(VENV) node_modules xprof_nb/frontend/node_modules labextension/node_modules
