"""One wing for all results: what computes figures, where they are stored, how they are shown and handed out."""
