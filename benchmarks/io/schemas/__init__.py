"""Formats in and out: they parse to and print from frozen dataclasses, and touch no database."""
