"""The site: settings, accounts, roles, middleware and the pages every role shares."""
