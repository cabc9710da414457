"""The WSGI application."""

from __future__ import annotations

import logging
import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import DatabaseError, connections

from summhay_site.operations.upgrading import ForeignDatabase, check_database
from summhay_site.postgresql import limits
from summhay_site.serving.stack import with_room

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
