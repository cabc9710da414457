"""Removal of a person's work on request: what goes, deleting it, or making it anonymous."""
