"""Retrievers: which documents of a haystack a summarizer, or a writer, gets to read for a subtopic's query.

A retriever is a frozen dataclass in a file of its own, with the Protocol of `base`; its fields are its settings.
`registry` lists them by name. They know no database: `benchmarks.engine.retrieving` gives them a haystack's texts
and stores their scores, `benchmarks.scoring.retrieval` measures them. Libraries are imported where they are used,
which is in workers and commands.
"""
