"""Validation of the judge behind key point recall: people answer the same questions, blind by default."""
