"""A function of this package in a process of its own: `python -m bench.elsewhere` reads a job as JSON.

Django is set up before the module of the function is imported, so that its imports can stand at its top.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

import django

if __name__ == "__main__":
    django.setup()
    job = json.load(sys.stdin)
    function = getattr(import_module(job["module"]), job["function"])
    print(json.dumps(function(*job["arguments"])))
