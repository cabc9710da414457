"""Disagreements of people and decisions on them, for any kind of label work."""
