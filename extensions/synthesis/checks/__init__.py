"""What can be said of a haystack without a model: pure functions of its texts and of its plan. No Django."""
