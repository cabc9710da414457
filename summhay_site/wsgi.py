"""The WSGI application."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from summhay_site.postgresql import limits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
application = get_wsgi_application()
limits.serve_pages()
_ = settings.SECRET_KEY  # read before the first request: a folder that cannot hold the key stops the server
