"""What is measured: corpora, summaries, judges and scores. Knows no people."""
