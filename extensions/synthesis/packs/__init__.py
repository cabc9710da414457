"""Haystacks made from templates: facts, renderings and filler, of which a seed makes a world. No Django."""
