"""The load of two years, in an empty database, and what is measured on it: `python -m bench.two_years --help`."""

import os

import django
from django.apps import apps

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
if not apps.ready:  # it is where tests import this; Django is set up before any module here imports a model
    django.setup()
