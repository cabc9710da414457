"""A worker that takes up what waits, once, and ends when it is done: `python -m tests.e2e.working`."""

import django


def work() -> None:
    """Do here what is due, with all that it would send to queues."""
    from benchmarks.tasks import resume_runs
    from summhay_site.celery import app

    app.conf.task_always_eager = True
    try:
        resume_runs()
    finally:
        app.conf.task_always_eager = False


if __name__ == "__main__":
    django.setup()
    work()
