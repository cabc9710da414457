"""Formats of import that bring labels: a closed study that holds them, and annotators without an account."""
