"""The ASGI application."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

from summhay_site.postgresql import limits

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")
application = get_asgi_application()
limits.serve_pages()
