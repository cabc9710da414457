"""A site on which a model is run while somebody looks at figures; a program against the site's own database.

`prepare ADDRESS` makes the scene and asks for the run, on a model server at this address. `look` answers each line
that it reads with the seconds until figures of labels that were changed just now are on their page.
"""

import json
import sys
import time

import django

N_SYSTEMS = 120
N_REQUESTS = N_SYSTEMS * 5
AT_A_TIME = 8
MOST_S = 120.0


def prepare(address: str) -> dict[str, str]:
    """Make ada's study with figures, and ask for the run of a model on a thousand pairs of summary and insight."""
    from django.contrib.auth.models import Group
    from django.utils import timezone

    from benchmarks.engine import judging, runs, versions
    from benchmarks.engine.wakeup import enqueue
    from benchmarks.models import Summary
    from summhay_site.models import User
    from tests import makers
    from tests.e2e import scene_stored_results
    from tests.fake_openai import MODEL

    ada = User.objects.create_user(username="ada")
    ada.groups.add(Group.objects.get(name="researcher"))
    made = scene_stored_results.prepare()
    haystack = makers.make_haystack()
    for subtopic in haystack.subtopics.all():
        for n in range(N_SYSTEMS):
            makers.make_summary(subtopic=subtopic, text=f"- Remark {n}.", system=f"s{n}")
    judge = versions.ensure_judge(
        name="sparrow", kind="openai", now=timezone.now(), config={"base_url": address, "model": MODEL}
    )
    run = judging.request_run(
        judge=judge,
        subjects=Summary.objects.filter(haystack=haystack),
        reason="try",
        now=timezone.now(),
        options=judging.ModelOptions(concurrency=AT_A_TIME),
    )
    enqueue(runs.worker_task(run), str(run.uid))
    return made | {"run": run.uid.hex}


def look(study: str) -> None:
    """Change labels and wait for their figures, once for each line of the input."""
    from django.test import Client

    from benchmarks.models import Result
    from summhay_site.models import User
    from tests.e2e import scene_stored_results

    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="ada"), backend="summhay_site.authentication.AccountBackend")
    for _ in sys.stdin:
        scene_stored_results.change()
        began = time.monotonic()
        page = client.get(f"/studies/{study}/figures/")
        assert page.status_code == 200, page.content.decode()
        while time.monotonic() < began + MOST_S and any(not row.is_fresh for row in Result.objects.all()):
            time.sleep(0.1)
        print(time.monotonic() - began, flush=True)


if __name__ == "__main__":
    django.setup()
    verb, argument = sys.argv[1:]
    if verb == "prepare":
        print(json.dumps(prepare(argument)))
    else:
        look(argument)
