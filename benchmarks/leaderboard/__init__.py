"""Scores and positions of systems, from stored verdicts."""
