"""Systems and people on one benchmark: a row for each, by one judge, on the same subtopics."""
