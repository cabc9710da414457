"""Pages of what is measured: summarizers and retrievers."""
