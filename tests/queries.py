"""What pages cost."""

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def cost_of(client: Client, url: str, data=None) -> int:
    """How many queries a page takes, once what its first look stores or computes is there."""
    client.get(url, data)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(url, data).status_code == 200
    return len(asked)
