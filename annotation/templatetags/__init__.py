"""Template filters of people and their work."""
