"""What the log says of requests that were refused."""

from __future__ import annotations

import logging


class NoTracebackForRefusals(logging.Filter):
    """One line for what Django answered on purpose (400, 403, 503 …); the traceback stays for a 500."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Name the exception in the line instead."""
        status = getattr(record, "status_code", 500)
        if record.exc_info and status != 500:
            error = record.exc_info[1]
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            record.msg, record.args = f"{record.getMessage()} ({what})", ()
            record.exc_info = record.exc_text = None
        return True
