"""People: accounts and roles, log-in, passwords and links, people of a recruitment link, and the pages of them."""
