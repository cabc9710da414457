"""Syntheses for admins: read-only."""

from __future__ import annotations

from benchmarks.web.readonly import register_tables

register_tables("synthesis")
