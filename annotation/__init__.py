"""The people: studies, assignments, sessions, labels, and agreement between people and judges."""
