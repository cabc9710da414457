"""Model work: what judges are asked, who sends it, what it may cost, and how far a run has come."""
