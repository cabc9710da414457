"""Pages of questions with key points and of the sets they come in."""
