"""The audit log: its queries, its sentences, its page and download."""
