# Each target does its own set-up; anything that exists already is used again.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
    "$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BIN := $(VENV)/bin
SQL := $(wildcard migrations/V*.sql) procedures sql $(wildcard driver/omd/programs/demo/*/*.sql)

export OMD_HOME ?= $(CURDIR)/.omd
export SPARK_LOCAL_IP ?= 127.0.0.1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Compiled modules are kept: without them each run compiles all tests for 15 seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PRECIOUS: %/bin/pip %/bin/uv
.PHONY: help demo test test-all test-lowest soak bench lint generate docs setup environments lock dist release java clean

help:
	@echo 'make demo      loads a year of real flights by Spark, under the control of PostgreSQL'
	@echo 'make test      runs the quick tests of all rooms in ten minutes: no Java, no tools of others'
	@echo '               (ROOM=facts, ARGS="-k lease", ARGS=tests/facts/test_loads.py: some of them;'
	@echo '               OMD_TEST_PG=15|16|18: the server)'
	@echo 'make test-all  runs all that a change must pass, as CI does (ALL=1: everything there is;'
	@echo '               ARGS=tests/spark/test_types.py: some of it)'
	@echo 'make test-lowest   runs quick tests with the lowest versions that the bounds allow'
	@echo 'make soak      runs the random tests OMD_SOAK times as long (20)'
	@echo 'make bench     runs the benchmarks for half an hour (ARGS="--size whole": for hours)'
	@echo 'make lint      runs sqlfluff, ruff and mypy'
	@echo 'make generate  writes calls, rows and the reference from the catalog of the database'
	@echo 'make docs      builds the documents as a site in build/site; fails on a dead link'
	@echo 'make setup     installs only what the others need: packages and Java'
	@echo 'make environments   installs the tools of others that tests run (mark tools), by lock files'
	@echo 'make lock      writes these lock files and constraints.txt anew, with the newest versions'
	@echo 'make dist      builds wheel and sdist twice in dist/, compares them, and checks what is in them'
	@echo 'make release VERSION=1.0.0   checks that it may be released, and prints what a person does then'
	@echo 'make clean     stops the embedded server, and removes its data and all that make created'
	@echo
	@echo 'OMD_DSN (demo) and OMD_TEST_DSN (test) name a running server to use instead of the'
	@echo 'embedded one.'

# The demo of process control needs neither the lake nor models of decisions; others do.
demo: $(if $(wildcard $(VENV)/.dev),$(VENV)/.dev,$(if $(ARGS),$(VENV)/.demo,$(VENV)/.flights)) java
	@env -u DATABASE_URL $(BIN)/omd demo $(ARGS)

# The quick tier (tests/support/tiers.py), on two workers; with OMD_TEST_DSN there is one server, and
# its roles can't be shared. ARGS that names a path says itself what is run, and in one process, which
# answers sooner.
DEV_OR_TEST := $(if $(wildcard $(VENV)/.dev),$(VENV)/.dev,$(VENV)/.test)
PATHS := $(filter tests/%,$(ARGS))

test: $(DEV_OR_TEST)
	@$(BIN)/python -m pytest $(if $(PATHS),,tests$(if $(ROOM),/$(ROOM))) -q -m quick \
	    $(if $(PATHS)$(OMD_TEST_DSN),,-n 2 --dist loadfile) $(ARGS)

ifdef ARGS
test-all: $(VENV)/.dev java environments
	$(BIN)/python -m pytest $(if $(PATHS),,tests) -q $(ARGS)
else
test-all:
	@.ci/run $(if $(ALL),--all)
endif

# The random tests, for longer than a whole run.
soak: export OMD_SOAK ?= 20
soak: $(VENV)/.dev java
	$(BIN)/python -m pytest -q tests -m random $(ARGS)

# Each at a size of a few minutes; ARGS="--size whole scale" names the size and some of them.
bench: $(VENV)/.dev java
	@$(BIN)/python tests/benchmarks/run.py $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/sqlfluff lint --processes 0 --nocolor --disable-progress-bar $(SQL)
	$(BIN)/python tools/lint_bodies.py $(SQL)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

generate: $(VENV)/.dev
	$(BIN)/python tools/generate.py --embedded

docs: export NO_MKDOCS_2_WARNING := 1
docs: $(VENV)/.dev
	$(BIN)/python -m mkdocs build --quiet
	@echo 'The site is in build/site. To search in it: $(BIN)/python -m http.server -d build/site'

setup: $(VENV)/.dev java $(VENV)/spark-classes.jsa

clean:
	@[ ! -x $(BIN)/omd ] || $(BIN)/omd embedded stop --home .omd
	rm -rf $(VENV) .environments .release .lowest .omd build dist .mypy_cache .pytest_cache .ruff_cache artifacts spark-warehouse
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# Installs the first available Debian package of a list if no password is needed; otherwise it says
# what to do.
apt = { \
    if ! command -v apt-get >/dev/null; then echo 'Please install: $(firstword $(1))' >&2; exit 1; \
    elif [ "$$(id -u)" = 0 ]; then as_root=env; \
    elif sudo -n true 2>/dev/null; then as_root='sudo env'; \
    else echo 'Please run: sudo apt-get install $(firstword $(1))' >&2; exit 1; fi; \
    $$as_root apt-get -qq update; \
    for package in $(1); do \
        echo "Installing $$package ..."; \
        $$as_root DEBIAN_FRONTEND=noninteractive \
            apt-get -qq install -y --no-install-recommends $$package >/dev/null && break; \
    done; }

%/bin/pip:
	@[ -n '$(PYTHON)' ] || { echo 'Python 3.11 or newer is needed here, by Spark.' >&2; exit 1; }
	@# Debian ships venv without ensurepip, which is in a package of its own.
	@'$(PYTHON)' -c 'import ensurepip' 2>/dev/null || $(call apt,$(notdir $(PYTHON))-venv)
	'$(PYTHON)' -m venv $*

# What is installed is what constraints.txt names, version and hash. uv looks where pip looks.
uv = export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$($(1)/bin/pip config get global.index-url 2>/dev/null || \
    echo "$$PIP_INDEX_URL")}"; [ -n "$$UV_DEFAULT_INDEX" ] || unset UV_DEFAULT_INDEX; $(1)/bin/uv pip

%/bin/uv: constraints.txt | %/bin/pip
	@grep -A99 '^uv==' constraints.txt | sed '/^    --hash/!{/^uv==/!Q}' >$*/uv.txt
	$*/bin/pip install -q --require-hashes -r $*/uv.txt
	@touch $@

$(VENV)/.flights $(VENV)/.demo $(VENV)/.dev $(VENV)/.test: $(VENV)/.%: pyproject.toml constraints.txt $(VENV)/bin/uv
	@echo 'Installing the packages of pgomd[$*]; the first time this takes some minutes ...'
	@$(call uv,$(VENV)) install -q -p $(BIN)/python -c constraints.txt -e '.[$*]'
	@touch $@

# Airflow, Dagster, dbt and the like name versions of their own, so they stand in virtual
# environments beside ours. uv takes a minute for what takes pip ten. What is there is kept: where
# the lock file has not changed, sync looks only.
LOCKS := tests/environments
ENVIRONMENTS := airflow tools

environments: $(ENVIRONMENTS:%=.environments/%/.installed)

.environments/%/.installed: $(LOCKS)/%.txt pyproject.toml | $(VENV)/.dev
	@echo 'Installing the packages of $(LOCKS)/$*.txt ...'
	@[ -x .environments/$*/bin/python ] || $(BIN)/uv venv -q -p $(BIN)/python .environments/$*
	$(BIN)/uv pip sync -q --require-hashes -p .environments/$*/bin/python $<
	$(BIN)/uv pip install -q --no-deps -p .environments/$*/bin/python -e .
	@touch $@

lock: $(VENV)/.dev
	@$(BIN)/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes \
	    --no-annotate --no-emit-index-url --custom-compile-command 'make lock' \
	    --extra dev --extra release -o constraints.txt pyproject.toml
	@for name in $(ENVIRONMENTS); do \
	    $(BIN)/uv pip compile -q --upgrade --universal --python-version 3.10 --generate-hashes \
	        --custom-compile-command 'make lock' -o $(LOCKS)/$$name.txt \
	        pyproject.toml $(LOCKS)/$$name.in || exit; done

# The lowest version of each package that pyproject.toml names itself; of the others the newest.
# Left out are the tests of linters and of a type checker, whose versions are not the user's matter,
# and of the build.
LOWEST := tests --ignore=tests/core/test_typing.py --ignore=tests/house/test_lint.py \
    --deselect=tests/integrations/test_dbt.py::test_the_package_is_in_the_wheel

.lowest/.installed: pyproject.toml .lowest/bin/uv
	@$(call uv,.lowest) install -q -p .lowest/bin/python --resolution lowest-direct -e '.[demo,test]'
	@touch $@

test-lowest: .lowest/.installed
	.lowest/bin/python -m pytest -q $(LOWEST) \
	    -m 'quick and not (random or kill)' -n 2 --dist loadfile $(ARGS)

# What builds a release is in an environment of its own: no tests, no Spark.
.release/.installed: pyproject.toml constraints.txt .release/bin/uv
	@$(call uv,.release) install -q -p .release/bin/python -c constraints.txt \
	    -r pyproject.toml --extra release
	@touch $@

dist: .release/.installed
	@.release/bin/python tools/dist.py

# It changes no tag, and sends nothing.
release: .release/.installed
	@.release/bin/python tools/release.py '$(VERSION)'

# Tests start many JVMs: with this archive each costs half. They run without it too.
$(VENV)/spark-classes.jsa: $(VENV)/.dev | java
	-@$(BIN)/python tests/support/spark_classes.py 2>/dev/null

java_17 = "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | \
    sed -n 's/.* version "\([0-9]*\).*/\1/p' | grep -qE '^(1[7-9]|[2-9][0-9])$$'

java:
	@$(java_17) || $(call apt,openjdk-17-jre-headless default-jre-headless)
	@$(java_17) || { echo 'Spark needs Java 17 or newer. Install it, or name it in JAVA_HOME.' >&2; exit 1; }
