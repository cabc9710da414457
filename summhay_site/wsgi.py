"""The WSGI application, with one piece of memory for all frames of a request.

Python keeps the frames of a thread in pieces of 16 KB. A call that does not fit asks the kernel for another piece,
and its return gives it back; a loop that happens to run at the end of a piece does so with each round. Requests
nest deeply enough to cross two or three such ends: pages took a tenth longer, some of them a quarter.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import DatabaseError, connections

from summhay_site.operations.upgrading import ForeignDatabase, check_database
from summhay_site.postgresql import limits

N_SLOTS = 66_000
"""Of eight bytes: over half a MiB, so that Python takes a piece of one MiB. What is not used is never mapped."""


def with_room(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called in a piece of memory that has room for all frames of what it calls."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_stacksize=N_SLOTS)
    return call


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
application = with_room(get_wsgi_application())
limits.serve_pages()
try:
    check_database()
except ForeignDatabase as error:
    sys.exit(str(error))
except DatabaseError as error:  # the site starts without its database, and says so on its pages
    logging.getLogger(__name__).warning("The database cannot be read: %s", error)
finally:
    connections.close_all()
_ = settings.SECRET_KEY  # read before the first request: a folder that cannot hold the key stops the server
