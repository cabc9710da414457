"""What the site holds of people: declarations, their page, a person's own export, what goes after a time."""
