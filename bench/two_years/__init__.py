"""The load of two years, in an empty database: `python -m bench.two_years --share 1 --seed 1`.

What the app makes once is made by the app (haystacks by its import, sessions by its verbs); SQL multiplies it.
Each module is a program of its own too, so Django is set up before any of them imports a model.
"""

import os

import django
from django.apps import apps

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
if not apps.ready:  # it is where tests import this
    django.setup()
