"""Score summaries of an Inspect task by a judge of a SummHay site; needs summhay_reader.py beside it.

Each sample names its haystack and subtopic in its metadata; SUMMHAY_SITE and SUMMHAY_TOKEN say where to score.
"""

import asyncio

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState
from summhay_reader import Site

MEASURES = ("coverage", "citation", "joint")


@scorer(metrics={measure: [mean(), stderr()] for measure in MEASURES})
def summhay(judge: str = "") -> Scorer:
    """Coverage, citation and joint score; where nothing is covered, citation counts as 0."""
    site = Site()

    async def score(state: TaskState, target: Target) -> Score:
        about = {name: state.metadata[name] for name in ("haystack", "subtopic")}
        text = state.output.completion
        answer = await asyncio.to_thread(site.score, text, judge=judge, **about)
        return Score(
            value={measure: answer["scores"][measure] or 0.0 for measure in MEASURES},
            answer=text,
            metadata={name: answer[name] for name in ("judge", "insights")},
        )

    return score
