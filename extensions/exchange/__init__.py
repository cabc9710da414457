"""Exchange: texts, scores and labels of people and systems, written as the files of other programs."""
