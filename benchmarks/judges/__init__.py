"""Judges: each answers one question about one text. No ORM here; rows and runs are `benchmarks.judging`."""
