"""Benchmarks of one's own: haystacks made from templates, and checks of what a haystack's documents hold."""
