"""How dates are written, by language; Django's own formats for what is not said here."""
