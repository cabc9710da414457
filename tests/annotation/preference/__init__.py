"""A kind of study as a folder of its own: people say which of two summaries they prefer.

It shows how one is added: a folder with models and a `kind.py`, and its line in `INSTALLED_APPS`, which here is in
`settings.py`. `tests/annotation/test_kinds.py` runs `proof.py` under these settings.
"""
