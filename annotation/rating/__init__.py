"""A kind of study: people rate summaries from 1 to 5 on five aspects, as judges can."""
