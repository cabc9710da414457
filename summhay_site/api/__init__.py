"""A read-only API over what pages show, tokens that open it, and webhooks."""
