"""Views of corpora, judges and figures."""
