"""The demo corpus of our own writing: an island ferry, a repair café, and a set of questions.

`haystack` and `questions` give it in the published shapes, `sessions` gives believable past work on it.
Place, people and figures are invented. Nothing here touches the database.
"""
