"""The demo: texts and acts of our own invention in `data/`, played through the project's own verbs by `player`."""
