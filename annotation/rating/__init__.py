"""A kind of study: people rate summaries from 1 to 5 by aspect, as judges can."""
