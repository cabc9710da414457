"""Pages of studies, tasks and consent; those of a session live in `annotation.writing`."""
