"""Rows of a table on a page of figures, as an address sorts and filters them."""

from django.http import QueryDict
from django.utils.http import urlencode

from benchmarks.results.sheet import Row
from benchmarks.templatetags.sheets import sorted_table


def rows_shown(client, url: str, table: str, **query: str) -> list[Row]:
    """The rows of the table with this key; names of parameters have “_” for “-”."""
    asked = {name.replace("_", "-"): value for name, value in query.items()}
    found = client.get(url, asked).context["sheet"].table(table)
    return list(sorted_table(found, QueryDict(urlencode(asked))).data)
