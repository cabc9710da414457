"""Dates as German has them."""

from __future__ import annotations

DATE_FORMAT = "j. F Y"
DATETIME_FORMAT = "j. F Y, H:i"
SHORT_DATE_FORMAT = "d.m.Y"
SHORT_DATETIME_FORMAT = "d.m.Y H:i"
