"""Recruitment links: people of a panel join a study by an address, and get a completion code at the end."""
