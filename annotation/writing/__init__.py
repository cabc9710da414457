"""Timed writing sessions: the stored clock, saves, snapshots, pages, scores and what researchers see."""
