"""Running the site: backups, erasing people for good, workers, checks, what a database needs."""
