# make demo: try it.  make test: check it.  Everything lives in .venv and var.
# The demo installs only what the site runs with; tests and checks install the tools on top of it.
PYTHON ?= python3
EXTRAS ?= dev
VENV ?= .venv
MARKED ?= not browser and not nightly
BIN := $(VENV)/bin
MANAGE := $(BIN)/python manage.py

.PHONY: help runtime setup demo serve test test-browser screens messages commands check wheel-check lint types scripts imports \
  site-checks format clean

help:
	@echo "make demo          install, migrate, load the demo, serve it (prints address and logins)"
	@echo "make test          the test suite, on SQLite (MARKED=\"not browser\": with what runs at night)"
	@echo "make test-browser  the stories in a real Chromium"
	@echo "make screens       screenshots of all kinds of pages, into var/screens"
	@echo "make messages      bring the translations of annotators' pages up to date, and compile them"
	@echo "make commands      write docs/commands.md from the help of the commands"
	@echo "make check         format, lint, types, scripts, import rules, migrations, deploy checks"
	@echo "make wheel-check   build the wheel, install it where nothing else is, start it (WHEEL_PYTHONS="python3.13 …": with these)"
	@echo "make serve         web, worker and beat in production mode, through the Procfile"

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
	$(BIN)/honcho -f Procfile start

test: setup
	$(BIN)/python -m pytest -n auto -m "$(MARKED)"

test-browser: setup
	$(BIN)/python -m pytest -n auto -m browser --dist loadfile --no-loadscope-reorder tests/e2e

screens: setup
	$(BIN)/python -m tests.screens var/screens

messages: setup
	$(BIN)/python -m tests.messages

commands: setup
	DJANGO_SETTINGS_MODULE=summhay_site.settings $(BIN)/python -m tests.commands

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/djade --target-version 5.2 $$(git ls-files 'templates/*.html')

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/djade --check --target-version 5.2 $$(git ls-files 'templates/*.html')

types: setup
	$(BIN)/mypy

scripts: setup
	$(BIN)/python -m pytest -q tests/site/test_javascript.py

imports: setup
	$(BIN)/lint-imports

site-checks: setup
	$(MANAGE) makemigrations --check --dry-run
	DEBUG=0 HTTPS=1 HSTS_SUBDOMAINS=1 HSTS_PRELOAD=1 ALLOWED_HOSTS=summhay.example SECRET_KEY=$$($(BIN)/python -c "import secrets; print(secrets.token_urlsafe(64))") \
	  $(MANAGE) check --deploy --fail-level WARNING

check: types lint scripts imports site-checks

wheel-check:
	$(PYTHON) .ci/wheel_check.py $(WHEEL_PYTHONS)

clean:
	rm -rf .venv .venv-* var build dist *.egg-info
