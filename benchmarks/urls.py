"""Addresses of corpora, summaries and judges."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from benchmarks.io import pages as imports
from benchmarks.results import views as results
