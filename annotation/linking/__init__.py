"""Coverage linking: which insights a summary covers, how far, and in which bullet."""
