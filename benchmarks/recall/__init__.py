"""Key point recall and precision of responses: what is asked, what is stored, and the figures."""
