"""Haystacks and questions made here: from templates, and step by step with models."""

from __future__ import annotations

from django.apps import AppConfig


class SynthesisConfig(AppConfig):
    """Synthesis, and what the rest of the site has to know of it."""

    name = "extensions.synthesis"

    def ready(self) -> None:
        """Register model work, what goes along with corpora, and what is said, shown and kept of syntheses."""
        from annotation.verification.labels import SIZES
        from benchmarks.engine.tasks import TASKS
        from benchmarks.grouping import FOLLOWING, GROUPS_OF_OTHERS
        from benchmarks.personal import Acts
        from benchmarks.questions.sets import DELETED
        from extensions.synthesis import demo, handing_over, pages
        from extensions.synthesis.models import Synthesis, SynthesisDecision, SynthesisStep
        from extensions.synthesis.task import SynthesisTask
        from summhay_site import privacy
        from summhay_site.audit import SENTENCES
        from summhay_site.demo import player

        TASKS[SynthesisTask.name] = SynthesisTask()
        GROUPS_OF_OTHERS[SynthesisTask.name] = handing_over.groups_of
        FOLLOWING.append(handing_over.move)
        DELETED.append(handing_over.forget)
        SIZES.append(pages.sizes_in)
        SENTENCES.update(
            {
                "haystack.pairs_drawn": "drew pairs of insights and documents of %(what)s",
                "synthesis.begun": "began the synthesis %(what)s",
                "synthesis.handed_over": "took the haystack of %(what)s into the corpus",
                "synthesis.handed_over_questions": "took the questions of %(what)s into a question set",
                "synthesis.step_closed": "closed a step of the synthesis %(what)s",
            }
        )
        player.ACTS.update({"make": demo.make, "synthesize": demo.synthesize})
        privacy.ACTS += [
            Acts(Synthesis, ("created_by",)),
            Acts(SynthesisStep, ("closed_by",)),
            Acts(SynthesisDecision, ("by",)),
        ]
