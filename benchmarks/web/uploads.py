"""A limit on uploads that holds while they arrive: an upload that is too large never reaches the disk complete."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest

TOO_LARGE = "upload_was_too_large"


class LimitedUploadHandler(FileUploadHandler):
    """Stops at `UPLOAD_LIMIT_BYTES`, reads the rest away so that an answer can be given, and marks the request."""

    n_seen = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        """Pass chunks on to the handlers that store them, until there are too many."""
        self.n_seen += len(raw_data)
        if self.n_seen > settings.UPLOAD_LIMIT_BYTES:
            setattr(self.request, TOO_LARGE, True)
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Storing is the business of the handlers after this one."""


def was_too_large(request: HttpRequest) -> Any:
    """Whether the request held a file over the limit; its form then has no file."""
    return getattr(request, TOO_LARGE, False)
