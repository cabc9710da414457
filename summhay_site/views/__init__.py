"""Pages that every role shares."""
