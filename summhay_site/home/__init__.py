"""The home page of each role: how things stand, and what waits."""
