# Two commands do everything: `make up` and `make test`. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The first interpreter of 3.11 or newer that works; give your own as PYTHON=…
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	"$$p" -c 'import sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo "$$p" && break; done)
BIN := .venv/bin
INSTALLED := .venv/.installed node_modules/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Images of Python say that no bytecode is to be kept: each of hundreds of processes would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

.PHONY: up down reset
up: install ## Run the whole stack on this machine (SOURCES=file.opml for your own feeds)
	@$(BIN)/sourcebook up $(if $(SOURCES),--sources "$(SOURCES)")

down: install ## Stop it and keep its data
	@$(BIN)/sourcebook down

reset: install ## Stop it and forget its data
	@$(BIN)/sourcebook reset

.PHONY: test check format lint types contracts unit integration pages deployed
test: install format lint contracts ## All tests: types, units and moto beside the templates and a true deployment
	@$(MAKE) --no-print-directory --jobs 3 labelled-deployed labelled-integration labelled-checked

check: install format lint contracts ## The quick loop before every commit
	@$(MAKE) --no-print-directory --jobs 2 labelled-types labelled-unit UNIT="--numprocesses 2 --dist loadscope"

# What several targets at once print is told apart by their names. The deployment, which waits most, goes first.
labelled-%:
	@set -o pipefail; $(if $(filter-out deployed,$*),nice )$(MAKE) --no-print-directory $* 2>&1 | awk '{ print "[$*] " $$0; fflush() }'

format:
	$(BIN)/ruff format $(if $(CI),--check) .

lint:
	$(BIN)/ruff check .

types:
	node_modules/.bin/tsc -p web
	$(BIN)/mypy

contracts:
	$(BIN)/lint-imports

unit:
	$(BIN)/pytest tests/unit -q $(UNIT)

integration:
	$(BIN)/pytest tests/integration -q --ignore tests/integration/page

pages:
	$(BIN)/pytest tests/integration/page -q

# As long as `integration`. One process each: a second one would collect all tests again.
.PHONY: checked
checked: types unit pages

# These wait half of the time, for schedules and queues: `make test` runs the others beside them.
# First a file that has the application deployed, which the others wait for; meanwhile templates are looked at.
deployed:
	rm -rf .sourcebook/calls
	$(BIN)/pytest tests/e2e/test_recovery.py tests/infra tests/e2e -q \
		--numprocesses 3 --dist loadfile --no-loadscope-reorder
	$(BIN)/pytest tests/permissions -q

# Any folder of feed files will do.
CORPUS ?= $(firstword $(wildcard ../shared/data/feeds) local/sourcebook_local/samples/feeds)

.PHONY: docs
docs: install ## Make the pages of documentation that are made of declarations
	$(BIN)/sourcebook workflows page > docs/workflows.md
	$(BIN)/python -c "import json; from sourcebook.events import schemas; print(json.dumps(schemas(), indent=2))" > docs/events.json
	$(BIN)/python client/make_models.py
	$(BIN)/python docs/make_table.py
	$(BIN)/python client/make_sync.py
	$(BIN)/python web/make_upload_limits.py

.PHONY: pictures
pictures: install ## Take the pictures of the page for the documentation, of the stack that `make up` runs
	$(BIN)/python -m tests.pictures

.PHONY: bench
bench: install ## What it costs and how fast it is, beside named baselines (BENCH=--write: into the docs)
	$(BIN)/python -m bench.run --corpus $(CORPUS) $(BENCH)

SEEDS ?= 20
# Over how many partitions the indexes are spread in what follows, as `index_shards` has it for a deployment.
SHARDS ?= 1
faults load: export INDEX_SHARDS := $(SHARDS)

.PHONY: faults
faults: install ## Ingest through every trouble there is, SEEDS=20 times (about two minutes each; SHARDS=8)
	SOURCEBOOK_FAULT_SEEDS=$(SEEDS) $(BIN)/pytest tests/integration/faults tests/integration/spectra/test_every_call.py \
		tests/integration/curation/test_curation.py -q --numprocesses 2
	SOURCEBOOK_FAULT_SEEDS=$(SEEDS) SOURCEBOOK_FAULT_ROUNDS=6 $(BIN)/pytest tests/e2e/test_faults.py -v --log-cli-level INFO

# Of July 2024: Lambda has had Python 3.13 since November 2024, and its runtime has never had an older one.
RUNTIME_BOTO3 := boto3==1.34.145 botocore==1.34.145 s3transfer==0.10.2
TESTS ?= tests/integration

.PHONY: runtime
runtime: install ## What runs against moto, with the oldest boto3 that Lambda's runtime may have (TESTS=folder)
	$(BIN)/uv pip install --quiet --no-deps --target .sourcebook/build/runtime $(RUNTIME_BOTO3)
	PYTHONPATH=.sourcebook/build/runtime $(BIN)/pytest $(TESTS) --numprocesses 2 --dist loadscope

.PHONY: upgrade
upgrade: install ## From the release before to this one, back, and deleted and made again (some ten minutes)
	SOURCEBOOK_UPGRADE=1 $(BIN)/pytest tests/upgrade -v --log-cli-level INFO

.PHONY: release
release: install ## Build the files of a release into dist/, twice, and compare
	$(BIN)/python -m infra.release dist

.PHONY: load
load: install ## 2,000 feeds, 50,000 entries and 20 readers for ten minutes, until all is done (about twenty minutes; SHARDS=8)
	SOURCEBOOK_LOAD=full $(BIN)/pytest tests/e2e/test_load.py --log-cli-level INFO

.PHONY: fuzz
fuzz: install ## Change bytes of spectrum files, make up every other input 10,000 times, and grow inputs to 10 MB (many minutes)
	SOURCEBOOK_FUZZ=10000 $(BIN)/pytest $$(find tests/unit -name test_fuzz.py -o -name test_growth.py -o -name test_dialects.py) -q

# Of what runs in production and what builds it. --strict: what cannot be looked up is no clean bill of health.
.PHONY: audit
audit: install ## Look up known vulnerabilities of every pinned dependency (needs PyPI and npm themselves)
	for file in layers/*/requirements.txt requirements/*.txt; do \
		$(BIN)/uv tool run --from pip-audit==2.10.1 pip-audit --strict --disable-pip --no-deps --progress-spinner off --requirement $$file; \
	done
	npm audit --audit-level=low

# In an environment of its own: nothing else needs Babel.
.PHONY: term-words
term-words: install ## Make the list of words for terms again, from the locale data of CLDR
	$(BIN)/uv run --isolated --no-project --with-requirements requirements/words.txt \
		env PYTHONPATH=layers/core/python python training/build_term_words.py

.PHONY: install lock clean
install: ## Make the virtual environment and install what it needs
	@$(MAKE) --no-print-directory --silent --jobs 2 $(INSTALLED)

.venv/.installed: requirements/dev.txt layers/core/requirements.txt layers/sentiment/requirements.txt layers/science/requirements.txt layers/parquet/requirements.txt pyproject.toml
	@if [ -z "$(PYTHON)" ]; then echo "Python 3.11, 3.12 or 3.13 with venv is needed: install one, or say PYTHON=/path/to/python3" >&2; exit 1; fi
	@echo "Making .venv with $$($(PYTHON) --version) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --no-compile --no-deps --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

node_modules/.installed: package.json package-lock.json
	@command -v npm >/dev/null || { echo "Node 18 or newer with npm is needed for the CDK command line: install it and run this again" >&2; exit 1; }
	@echo "Installing the CDK command line and what the web page is made of with Node $$(node --version) …"
	@npm ci --silent
	@touch $@

lock: install ## Compile the requirement files again, with hashes and without addresses
	for name in layers/core/requirements layers/sentiment/requirements layers/parquet/requirements requirements/dev requirements/cloud requirements/mcp requirements/bench requirements/words; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
			$$([ $$name = layers/sentiment/requirements ] && echo --constraint layers/core/requirements.txt --no-emit-package requests \
			--no-emit-package urllib3 --no-emit-package certifi --no-emit-package idna --no-emit-package charset-normalizer \
			--no-emit-package flatbuffers --no-emit-package protobuf --no-emit-package packaging) \
			--override layers/sentiment/overrides.txt \
			$$name.in --output-file $$name.txt; \
	done
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--constraint layers/sentiment/requirements.txt --no-emit-package pyerfa --no-emit-package pyyaml \
		layers/science/requirements.in --output-file layers/science/requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--constraint layers/sentiment/requirements.txt --override training/overrides.txt \
		training/requirements.in --output-file training/requirements.txt

clean: ## Remove what was built; data and environments stay
	rm -rf cdk.out .sourcebook/build .sourcebook/deployed .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
