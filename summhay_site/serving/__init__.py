"""How requests are served: middleware, errors, health, static files, what gunicorn runs."""
