"""May a judge stand in for people: the test on labels of coverage, its page, and approvals that were recorded."""
