"""Pages of corpora: what they hold, searching them, archiving and deleting them."""
