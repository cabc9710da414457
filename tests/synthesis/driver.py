"""What tests of syntheses do again and again: the command, and the pages as one person uses them."""

import io
from typing import Any

from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks.engine import judging
from benchmarks.models import JudgeRun
from extensions.synthesis.models import StepState, Synthesis, SynthesisPart
from tests.fake_openai import MODEL, Behaviour, FakeServer, failing
from tests.running import json_of


def address(name: str, *args) -> str:
    return reverse(name if ":" in name else f"synthesis:{name}", args=args)


class Command:
    """`synthesize NAME` against a server, with arguments that are usual in a module; later ones count."""

    def __init__(self, server: FakeServer, topic: str, *usual) -> None:
        self.server, self.usual = server, (*usual, "--topic", topic, "--model", MODEL)

    def report(self, script: Behaviour, *arguments) -> dict[str, Any]:
        """Run it; gives its report."""
        self.server.behaviour = script
        return dict(json_of("synthesize", *self.usual, *arguments))

    def lines(self, script: Behaviour, *arguments) -> tuple[str, str]:
        """Run it; gives what it prints, to stdout and to stderr."""
        self.server.behaviour, out, err = script, io.StringIO(), io.StringIO()
        try:
            call_command("synthesize", *map(str, (*self.usual, *arguments)), stdout=out, stderr=err)
        except SystemExit:
            err.write("(ended with status 1)")
        return out.getvalue(), err.getvalue()


class Dying:
    """Denies all requests after so many, as a key that was withdrawn does: the run pauses in the middle."""

    def __init__(self, script, most: int) -> None:
        self.script, self.most, self.n = script, most, 0

    def __call__(self, number: int, body: dict[str, Any]):
        self.n += 1
        return failing(401, "no") if self.n > self.most else self.script(number, body)


def texts_of(uid: str) -> list[str]:
    rows = SynthesisPart.objects.filter(synthesis__uid=uid)
    return sorted(f"{row.kind} {row.number} {row.state} {row.text}" for row in rows)


class Pages:
    """The pages of one synthesis, as one person uses them; `synthesis` is the one that was begun last."""

    def __init__(self, user) -> None:
        self.client = Client()
        self.client.force_login(user)

    @property
    def synthesis(self) -> Synthesis:
        return Synthesis.objects.latest("pk")

    def begin(self, name: str, sent: dict[str, Any]) -> Synthesis:
        response = self.client.post(address(name), sent)
        assert response.status_code == 302, response.text[:3000]
        return self.synthesis

    def refused(self, name: str, sent: dict[str, Any]) -> str:
        """What is said of a form that cannot be."""
        response = self.client.post(address(name), sent)
        assert response.status_code == 422
        return response.text

    def see(self, name: str = "detail", *args, **query) -> str:
        """A page with one space where there are many."""
        response = self.client.get(address(name, *(args or [self.synthesis.uid])), query, follow=True)
        assert response.status_code == 200
        return " ".join(response.text.split())

    def post(self, name: str, *args, **sent):
        """What a button of the synthesis sends; the page that follows."""
        return self.client.post(address(name, self.synthesis.uid, *args), sent, follow=True)

    def file(self, name: str) -> bytes:
        return b"".join(self.client.get(address(name, self.synthesis.uid)).streaming_content)

    def run(self, *names: str, **sent) -> None:
        """Start steps and work on them, and go through gates between them."""
        for at, name in enumerate(names):
            self.post("start", name, concurrency=8, **sent)
            for pending in JudgeRun.objects.filter(state="pending"):
                judging.run_pending(run=pending, clock=timezone.now)
            state = self.synthesis.steps.get(name=name).state
            assert state in {StepState.REVIEW, StepState.CLOSED}
            if at < len(names) - 1 and state == StepState.REVIEW:
                self.go_on(name)

    def go_on(self, name: str) -> None:
        self.post("close", name)
        assert self.synthesis.steps.get(name=name).state == StepState.CLOSED

    def review(self, name: str, part: SynthesisPart) -> str:
        return self.see("review", self.synthesis.uid, name, part=part.uid)

    def decide(self, name: str, part: SynthesisPart, action: str, **sent) -> SynthesisPart:
        self.post("decide", name, part.uid, action=action, **sent)
        part.refresh_from_db()
        return part
