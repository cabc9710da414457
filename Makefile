# make demo: try it.  make test: check it.  Everything lives in .venv and var.
PYTHON ?= python3
EXTRAS ?= dev
BIN := .venv/bin
MANAGE := $(BIN)/python manage.py

.PHONY: help setup demo serve test test-browser screens messages check wheel-check lint types scripts imports \
  site-checks format clean

help:
	@echo "make demo          install, migrate, load the demo, serve it (prints address and logins)"
	@echo "make test          the test suite, on SQLite"
	@echo "make test-browser  the stories in a real Chromium"
	@echo "make screens       screenshots of all kinds of pages, into var/screens"
	@echo "make messages      bring the translations of annotators' pages up to date, and compile them"
	@echo "make check         format, lint, types, scripts, import rules, migrations, deploy checks"
	@echo "make wheel-check   build the wheel, install it where nothing else is, start it"
	@echo "make serve         web, worker and beat in production mode, through the Procfile"

setup: .venv/.complete

.venv/.complete: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  -c constraints.txt -e '.[$(EXTRAS)]'
	@touch $@

demo: setup
	$(MANAGE) demo

serve: setup
	$(MANAGE) migrate --no-input
	$(MANAGE) collectstatic --no-input --verbosity 0
	$(BIN)/honcho -f Procfile start

test: setup
	$(BIN)/python -m pytest -n auto -m "not browser"

test-browser: setup
	$(BIN)/python -m pytest -n auto --maxschedchunk=1 -m browser tests/e2e

screens: setup
	$(BIN)/python -m tests.screens var/screens

messages: setup
	$(BIN)/python -m tests.messages

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
	$(PYTHON) .ci/wheel_check.py

clean:
	rm -rf .venv var build dist *.egg-info
