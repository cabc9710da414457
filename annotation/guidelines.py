"""Guidelines of a study: versions that are only ever added, and Markdown as safe HTML."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import transaction
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from annotation.models import Guideline, Study
from benchmarks import audit


def unwrapped(text: str) -> str:
    """Markdown with each paragraph and list item on one line, as it is pleasant to edit."""
    return re.sub(r"(?<!\n)\n(?!\n|#|- |\d+\. |\Z) *", " ", text)


DEFAULT_WRITING_BODY = unwrapped(
    """\
## Your task

You see a query and a set of documents. Write a summary that answers the query: one bullet for each insight, on a
line of its own, with the numbers of all documents that tell it, like `- Fares rise in May. [3, 7]`. An insight is
a fact that several documents tell.

## How to go about it

1. **Read carefully.** The documents look alike and differ in what matters. There is time to read all of them.
2. **Report what repeats.** Several documents tell an insight, each in its own way. What only one document says is
   rarely one.
3. **Be exact.** Keep numbers, names and conditions; they are part of the insight.
4. **Cite thoroughly.** Once you have found an insight, search the other documents for it too, and cite every one
   that tells it. The search finds words, not meanings: try other wordings.
5. **Know when you are done.** You are told how many insights the documents hold. It is a guide, not a quota:
   write the ones you find, and none twice.

## Rules

- Write in your own words. Copying from the documents is switched off.
- Use no language model, no chat assistant and no automatic summarizer, before or during the task.
- Work alone, and do not look for the documents or their topic elsewhere.

## Time

- The clock shows how much time is left. You may pause at any moment; a pause is not counted and hides the
  documents.
- You may finish early. Nobody expects you to use all the time.
- Everything you type is saved as you type. When the time is over, what stands there is handed in by itself.
- Your notes beside the editor are for you alone and are never scored.
"""
)

DEFAULT_LINKING_BODY = unwrapped(
    """\
## Your task

You see a summary and the insights that a good summary of its topic would tell. For each insight, decide how far
the summary tells it, and in which bullet. You do not know who wrote the summary, and it does not matter.

## None, partial, full

Each answer has its key, in the order of the page.

- **None** (`1`): no bullet tells it. Being about the same subject is not enough, and a statement that contradicts
  the insight tells none of it.
- **Partial** (`2`): the bullet is about the same fact and tells some of it, but something that counts is lost: a
  number, a name, a place or time, a condition, an exception, one of two halves.
- **Full** (`3`): somebody who reads only this bullet knows everything that the insight says. Other words are fine,
  and so is more than was asked.

In doubt between two, ask: *what would a reader of the bullet get wrong or not know?* Nothing: full. A part:
partial. The point itself: none. If you still hesitate, choose what is nearest and mark *not sure*.

## Worked examples

Insight: “Repairs are free; a part is charged at cost, and only when it costs more than £5 and the owner has agreed
beforehand.”

- “There's no charge apart from parts over £5, which are passed on at cost after the owner has agreed.” is
  **full**: other words, nothing lost.
- “Repairs are free, and parts are charged at cost.” is **partial**: both conditions are lost.
- “Each repair costs £5.” is **none**: it says something else, although number and subject are there.

Insight: “Of 590 items brought in during the first year 412 were mended; lamps and toasters succeed four times in
five, printers hardly ever.”

- “In the first year 412 items were mended.” is **partial**: out of how many, and which, is lost.
- “Many visitors bring lamps and toasters.” is **none**: the subject is the same, the fact is not there.

Insight: “Nothing with a plug leaves before Sunita has tested it, which has caught 31 faults that would have gone
unnoticed, most of them in kettles.”

- “Electrical items are tested before they leave, and 31 faults were caught.” is **partial**: who tests, and where
  the faults are, is lost.

## Which bullet

- Choose the bullet that tells most of the insight. If two are equal, take the first.
- Judge the bullet that you choose, not the sum of several, unless this study lets you choose several.
- One bullet may cover several insights.
- Do not judge style, length or citations, and do not look anything up: only what the bullet says counts.

## When something is odd

Skip a summary that you cannot judge, and say why. Flag or comment what the researcher should look at.
"""
)
DEFAULT_VERIFICATION_BODY = unwrapped(
    """\
## Your task

You see a question, the documents that were found for it, and one point that a program took from them. Two
judgments are asked: can the point be found in the text, and, if it can, is it a key point of an answer?

## 1. Can this point be found in the text?

1. **Begin with the highlight.** It marks the passage that the program says it used. It is a help and it can be
   wrong: the passage may say something else, or the point may stand in another place, or in another document.
2. **Before a no, read everything.** If the highlight does not carry the point, read all documents to the end. The
   search helps, but it finds words and not meanings.

- **Yes** (`y`): somebody who believes the text must believe the point. Other words are fine; so is a point that
  puts together what stands in several places.
- **No** (`n`): the text lacks it, says less, or says something else. A number, a condition or an exception that
  the text does not give makes it a no. So does a claim that the text only reports in order to reject it.

Only these documents count, not what you know. You may copy text, and look up words that you do not know.

## 2. Is it a key point?

This is asked after a yes only, and it is about the question, not about the text.

- **Agree** (`1`): it answers the question, or a part of it. An answer without it would lack something.
- **Neutral** (`2`): it belongs to the subject but does not answer the question, for instance as background. It may
  stand in an answer and need not.
- **Disagree** (`3`): it has nothing to do with what is asked, and would be better left out.

## Worked examples

Question: “How are mangroves able to live in salt water and airless mud?”

- “Some species take salt in and excrete it through glands in their leaves.” The text: “These trees let in more
  salt and get rid of it again through glands in the leaf.” **Yes**, and **agree**: it is half of how they cope
  with salt.
- “Roots keep out all of the salt.” The text says “well over nine tenths”. **No**: the number is another one.
- “Mangroves get rid of salt mainly by storing it in old leaves which are then shed.” The highlighted sentence says
  just that. The next ones say that it was once believed and that measurements speak against it. **No**.
- “Mangroves cover about 150,000 square kilometres worldwide.” It is in the text: **yes**. It is about mangroves
  and does not say how they live in salt and mud: **neutral**.

Question: “Why did Britain's canals lose most of their freight to the railways in the nineteenth century?”

- “Frost and drought interrupted canal traffic for weeks at a time.” One document says it of all canals, another
  tells of one winter. **Yes**, and **agree**.
- “The cabins of boat families were painted with roses and castles.” **Yes**, it is in the text; **disagree**, for
  it has nothing to do with freight.

## When something is odd

If you hesitate between two answers, choose the nearest and mark *not sure*. Skip a point that you cannot judge,
and say why. Flag or comment what the researcher should look at.
"""
)
DEFAULT_VALIDATION_BODY = unwrapped(
    """\
## Your task

You see a question, a response to it, and one point that a good answer should make. Say whether the response makes
the point. You judge the response, not the point: whether the point is true or important does not matter here.

## The three answers

Each answer has its key, in the order of the page.

- **Yes** (`y`): somebody who believes the response must believe the whole point. Other words are fine, and so is a
  point that several sentences make together.
- **Neutral** (`0`): the response speaks of it and says less, so that the point may or may not follow: a number, a
  condition or an exception of the point is missing, or a general remark stands for a particular one.
- **No** (`n`): the response does not speak of it, or says the opposite.

Only the words of the response count, not what you know. Read it to its end before a no or a neutral. If the point
has several parts, all of them have to be there for a yes.

## The passage

You may mark the passage that decides: select it and press `m`, or use the button. It helps whoever reads your
answer and is never required.

## Worked examples

Point: “Some mangrove species excrete salt through glands in their leaves.”

- “A number of these trees take salt in and push it out again through their leaves.” **Neutral**: that glands do it
  is missing.
- “Leaf glands let several kinds get rid of the salt that they took in.” **Yes**.
- “Mangroves keep salt out at the roots.” **No**: that is another way to cope with it.

Point: “Frost stopped traffic on the canals for weeks.”

- “Boats were often held up by bad weather.” **Neutral**: neither frost nor weeks follow from it.
- “A hard winter could freeze a canal for a month, and nothing moved.” **Yes**.

## When something is odd

If you hesitate, choose the nearest answer and mark *not sure*. Skip a pair that you cannot judge, and say why.
Flag or comment what the researcher should look at.
"""
)
DEFAULT_BODIES = {
    Study.Kind.WRITING: DEFAULT_WRITING_BODY,
    Study.Kind.LINKING: DEFAULT_LINKING_BODY,
    Study.Kind.VERIFICATION: DEFAULT_VERIFICATION_BODY,
    Study.Kind.VALIDATION: DEFAULT_VALIDATION_BODY,
}


def default_guidelines(kind: str) -> str:
    """What new guidelines of this kind of study start from; empty for kinds that bring their own."""
    return DEFAULT_BODIES.get(Study.Kind(kind), "")


def current_guideline(study: Study) -> Guideline | None:
    """The version that applies to work begun now."""
    return study.guidelines.order_by("-version").first()


@transaction.atomic
def publish_guideline(*, study: Study, body: str, by: Any, now: datetime) -> Guideline:
    """Add a version; the same words as now change nothing. Work already begun keeps its version."""
    Study.objects.select_for_update().get(pk=study.pk)
    newest = current_guideline(study)
    if newest is not None and newest.body == body:
        return newest
    version = 1 if newest is None else newest.version + 1
    guideline = Guideline.objects.create(
        study=study, version=version, body=body, created_at=now, created_by=by if by and by.pk else None
    )
    audit.record(actor=by, action="study.guidelines", target=study, now=now, version=version)
    return guideline


@lru_cache(maxsize=64)
def render_markdown(body: str) -> SafeString:
    """HTML of a text that somebody typed: no raw HTML, no images, headings one level down, safe links only."""
    parser = _parser()
    tokens = parser.parse(body)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + (1 if token.tag == 'h1' else 0))}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
    html: str = parser.renderer.render(tokens, parser.options, {})
    return mark_safe(html)  # noqa: S308  raw HTML is off in the parser, everything else it escapes


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return (
        MarkdownIt("commonmark", {"html": False}).enable("table").disable(["image", "html_block", "html_inline"])
    )
