"""Compress the drafts of sessions that are over, for where no beat runs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from annotation.writing import packing


class Command(BaseCommand):
    help = "Compress drafts and events of sessions that ended more than a day ago, without loss; resumable."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{packing.pack_ended(now=timezone.now())} sessions packed")
