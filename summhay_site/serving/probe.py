"""Ask the server on this machine whether it is well: `python -m summhay_site.serving.probe` ends with 0 if so."""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException

from summhay_site import env

PATIENCE_S = 4


def main() -> int:
    """Ask /health/ under a name that the site answers to; returns what the process ends with."""
    hosts = env.names("ALLOWED_HOSTS") or ["localhost"]
    port = env.integer("PORT", 8000, low=1, high=65_535)
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/health/", headers={"Host": hosts[0].lstrip(".*") or "localhost"})
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        sys.stderr.write(f"No answer: {error}\n")
        return 1
    finally:
        connection.close()
    if status != 200:
        sys.stderr.write(f"/health/ answers {status}.\n")
    return int(status != 200)


if __name__ == "__main__":
    sys.exit(main())
