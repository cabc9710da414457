"""Figures as pure functions: frozen dataclasses or arrays in, dataclasses out.

Nothing here knows Django, a database, a queue or a model; whoever has labels and verdicts calls it.
"""
