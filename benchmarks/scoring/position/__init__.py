"""Where texts take their content from (On Context Utilization in Summarization, section 3): pure, numpy only."""
