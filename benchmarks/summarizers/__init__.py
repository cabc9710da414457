"""Summarizers as code that knows no database: what each is configured by, shown and asked, and how it is read."""
