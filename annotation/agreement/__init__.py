"""Agreement of people and judges, for every kind of study: pages, files, and reports for the console."""
