# make demo: try it.  make test: check it.  Everything lives in .venv and var.
# The demo installs only what the site runs with; tests and checks install the tools on top of it.
PYTHON ?= python3
DATA ?= $(SUMMHAY_DATA)
EXTRAS ?= dev
VENV ?= .venv
WORKERS ?= auto
STORIES ?= browser and not nightly
CORE ?= -n 0 tests/site/test_templates.py tests/site/test_home.py tests/annotation/test_kinds.py \
  tests/annotation/test_study_pages.py tests/benchmarks/test_run_scopes.py
CORE_MARKED ?= not browser and not nightly
BIN := $(VENV)/bin
MANAGE := $(BIN)/python manage.py
unexport PYTHONDONTWRITEBYTECODE  # the suites start hundreds of processes, and compiling takes longer than loading

.PHONY: help runtime setup demo serve test test-all test-night test-core test-browser schema screens messages commands privacy load chaos audit papers interop check wheel-check lint types size scripts imports \
  site-checks migrations-check format clean

help:
	@echo "make demo          install, migrate, load the demo, serve it (prints address and logins)"
	@echo "make test          the first tier of the tests, on SQLite: three minutes on two cores"
	@echo "make test-all      every test but those in a browser and at night (test-night: these too)"
	@echo "make test-core     a part of the tests without any extension (CORE=\"-n auto tests\": all of them)"
	@echo "make test-browser  the stories in a real Chromium"
	@echo "make schema        write tests/schema.sql after a change of migrations"
	@echo "make screens       screenshots of all kinds of pages, into var/screens"
	@echo "make messages      bring the translations of annotators' pages up to date, and compile them"
	@echo "make commands      write docs/commands.md from the help of the commands"
	@echo "make privacy       write docs/privacy.md from what the models declare to hold of people"
	@echo "make papers        write docs/papers.md (DATA=FOLDER: where the published files of Summary of a Haystack are)"
	@echo "make load          100 people at once for ten minutes (SECONDS=30: for so long), beside a bare view"
	@echo "make chaos         kill, freeze and cut off a site while people work, then look for what is missing (FAULTS=1000 SEED=… DATABASE_URL=…)"
	@echo "make migrations-check  migrations that the version before could not run beside (PostgreSQL)"
	@echo "make audit         addresses by role and method, hostile files, replies that inject, altered archives, dependencies"
	@echo "make interop       files of the demo, checked by the programs that they are for (Inspect, Croissant …) in an environment of theirs"
	@echo "make check         format, lint, types, import rules, migrations, deploy checks"
	@echo "make wheel-check   build the wheel, install it where nothing else is, start it (WHEEL_PYTHONS="python3.13 …": with these)"
	@echo "make serve         web, worker and beat in production mode; what ends is started again"

INSTALL = $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
  -c constraints.txt -e

runtime: $(VENV)/.runtime

setup: $(VENV)/.complete

$(VENV)/.runtime: pyproject.toml constraints.txt
	$(INSTALL) .
	@touch $@

$(VENV)/.complete: pyproject.toml constraints.txt
	$(INSTALL) '.[$(EXTRAS)]'
	@touch $(VENV)/.runtime $@

demo: runtime
	$(MANAGE) demo

serve: runtime
	$(MANAGE) migrate --no-input
	$(MANAGE) collectstatic --no-input --verbosity 0
	$(BIN)/supervisord -c supervisord.conf

test: MARKED = not browser and not nightly and not second_tier
test-all: MARKED = not browser and not nightly
test-night: MARKED = not browser
test test-all test-night: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore tests/e2e -m "$(MARKED)"

test-core: setup
	EXTENSIONS= $(BIN)/python -m pytest -m "$(CORE_MARKED)" $(CORE)

test-browser: setup
	$(BIN)/python -m pytest -n $(WORKERS) -m "$(STORIES)" --dist loadfile --no-loadscope-reorder tests/e2e

schema: setup
	$(BIN)/python -m tests.schema

screens: setup
	$(BIN)/python -m tests.screens var/screens

messages: setup
	$(BIN)/python -m tests.messages

commands: setup
	DJANGO_SETTINGS_MODULE=summhay_site.settings $(BIN)/python -m tests.commands

privacy: setup
	DJANGO_SETTINGS_MODULE=summhay_site.settings $(BIN)/python -m tests.privacy

load: setup
	$(BIN)/python manage.py bench load --rounds 1 --seconds $(or $(SECONDS),600)

chaos: setup
	$(BIN)/python -m bench.chaos --faults $(or $(FAULTS),60) $(if $(SEED),--seed $(SEED)) $(if $(DATABASE_URL),--database-url $(DATABASE_URL))

audit: setup
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1 || echo "pip-audit is not to be had here"
	AUDIT=all PIP_AUDIT=.venv-audit/bin/pip-audit $(BIN)/python -m pytest -q -n auto --timeout 7200 --show-capture=no tests/audit tests/e2e/test_hostile_texts.py

papers: setup
	DJANGO_SETTINGS_MODULE=summhay_site.settings $(BIN)/python -m tests.papers.page $(DATA)

interop: setup
	. .ci/interpreters; python=$$(others | head -1); "$${python:-$(PYTHON)}" -m venv .venv-interop  # Every Eval Ever needs 3.12
	.venv-interop/bin/python -m pip install --quiet --disable-pip-version-check frictionless==5.21.0 mlcroissant==1.1.1 \
	  inspect_ai==0.3.285 every_eval_ever==0.3.0 nuggetizer==0.0.5 datasets==5.2.0
	$(BIN)/python -m tests.interop .venv-interop/bin

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djade --target-version 5.2 $$(git ls-files '*templates/*.html')

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/djade --check --target-version 5.2 $$(git ls-files '*templates/*.html')

types: setup
	$(BIN)/mypy || $(BIN)/mypy --cache-dir /dev/null  # a kept cache may name modules that are gone

scripts: setup  # the suite has it too
	$(BIN)/python -m pytest -q tests/site/test_javascript.py

imports: setup
	$(BIN)/lint-imports

site-checks: setup
	$(MANAGE) makemigrations --check --dry-run
	DEBUG=0 HTTPS=1 HSTS_SUBDOMAINS=1 HSTS_PRELOAD=1 ALLOWED_HOSTS=summhay.example SECRET_KEY=$$($(BIN)/python -c "import secrets; print(secrets.token_urlsafe(64))") \
	  $(MANAGE) check --deploy --fail-level WARNING

migrations-check: setup
	DJANGO_SETTINGS_MODULE=summhay_site.settings DATABASE_URL=$${CI_DATABASE_URL:-postgres://postgres@127.0.0.1:5432/postgres} \
	  $(BIN)/python -m tests.lint_migrations

size: setup
	$(BIN)/python -m tests.size

check: types lint imports size site-checks migrations-check

wheel-check:
	$(PYTHON) .ci/wheel_check.py $(WHEEL_PYTHONS)

clean:
	rm -rf .venv .venv-* var build dist *.egg-info
