"""An annotator's own pages: tasks of every kind, what was handed in, earnings, consent."""
