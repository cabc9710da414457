"""Corpora, summaries, judges and scores, which know no people."""
