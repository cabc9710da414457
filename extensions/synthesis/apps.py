"""Haystacks and questions made here: from templates, and step by step with models."""

from __future__ import annotations

from django.apps import AppConfig


class SynthesisConfig(AppConfig):
    """Synthesis, and what the rest of the site has to know of it."""

    name = "extensions.synthesis"

    def ready(self) -> None:
        """Make model work, sizes of pairs, sentences of the audit log and acts of the demo known."""
        from annotation.verification.labels import SIZES
        from benchmarks.engine.tasks import TASKS
        from extensions.synthesis import demo, pairs
        from extensions.synthesis.task import SynthesisTask
        from summhay_site.audit import SENTENCES
        from summhay_site.demo.player import ACTS

        TASKS[SynthesisTask.name] = SynthesisTask()
        SIZES.append(pairs.sizes_in)
        SENTENCES.update(
            {
                "haystack.pairs_drawn": "drew pairs of insights and documents of %(what)s",
                "synthesis.begun": "began the synthesis %(what)s",
                "synthesis.handed_over": "took the haystack of %(what)s into the corpus",
                "synthesis.handed_over_questions": "took the questions of %(what)s into a question set",
                "synthesis.step_closed": "closed a step of the synthesis %(what)s",
            }
        )
        ACTS.update({"make": demo.make, "synthesize": demo.synthesize})
