"""The demo corpus keeps its promises: counts, gold, verbatim spans, natural text."""

import json
import re
from collections import Counter, defaultdict
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from benchmarks.io.reading.problems import Problems
from benchmarks.io.schemas import long2rag, summhay
from benchmarks.scoring.summhay import select_by_scores
from summhay_site.demo.cast import read

FERRY, REPAIR, QUESTIONS, FLAWS = map(read, ("ferry.json", "repair.json", "questions.jsonl", "flaws.json"))
SESSIONS = read("sessions.json")["sessions"]
[TOKEN_BUDGET] = [act["plan"]["token_budget"] for act in read("acts.json") if act.get("kind") == "writing"]
MARKERS = json.loads((Path(__file__).parent / "demo_markers.json").read_text())
"""For each insight a regular expression for the figures and names that give it away."""
N_DOCUMENTS = 46
CITED = re.compile(r"\[([\d,;\-\s]+)\]")


def citations(text: str) -> list[int]:
    numbers: list[int] = []
    for group in CITED.findall(text):
        for part in re.split(r"[,;\s]+", group.strip()):
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def gold(topic: dict[str, Any]) -> dict[str, list[int]]:
    by_insight: dict[str, list[int]] = defaultdict(list)
    for document in topic["documents"]:
        for insight in document["insights_included"]:
            by_insight[insight].append(document["idx"] + 1)
    return by_insight


def shown_documents(subtopic: dict[str, Any]) -> list[int]:
    """Numbers of the documents that a person is shown for a subtopic, under the oracle rule."""
    lengths = [(item["idx"] + 1, len(item["document_text"].split())) for item in FERRY["documents"]]
    numbers = {item["document_id"]: item["idx"] + 1 for item in FERRY["documents"]}
    scores = {numbers[key]: score for key, score in subtopic["retriever"]["oracle"].items() if score > 0}
    return sorted(select_by_scores(lengths, scores, token_budget=TOKEN_BUDGET).numbers)


def drafts_of(session: dict[str, Any]) -> list[tuple[int, str]]:
    """The text after each edit, by active time; of several edits at the same time after the last."""
    lines: list[str] = []
    found: dict[int, str] = {}
    for active_ms, number, line in session["edits"]:
        lines[number : number + 1] = [] if line is None else [line]
        found[active_ms] = "\n".join(lines)
    return list(found.items())


def all_texts() -> dict[str, str]:
    """Everything that a person can come to read, by a name that says where it is."""
    named: dict[str, str] = {}
    for topic in (FERRY, REPAIR):
        for document in topic["documents"]:
            named[f"{topic['topic']} document {document['idx'] + 1}"] = document["document_text"]
        for subtopic in topic["subtopics"]:
            for key, lines in subtopic["summaries"].items():
                named[f"{subtopic['subtopic_name']} {key}"] = "\n".join(lines)
            for insight in subtopic["insights"]:
                named[f"insight {insight['insight_name']}"] = insight["insight"]
    for question in QUESTIONS:
        for document in question["documents"]:
            named[document["key"]] = document["text"]
        for response in question["responses"]:
            named[f"{question['key']} {response['system']}"] = response["text"]
        for point in question["key_points"]:
            named[point["key"]] = point["text"]
    return named


def test_the_haystack_has_46_numbered_documents_of_300_words_or_more() -> None:
    documents = FERRY["documents"]
    assert [item["idx"] for item in documents] == list(range(N_DOCUMENTS))
    lengths = [len(item["document_text"].split()) for item in documents]
    assert min(lengths) >= 300
    assert max(lengths) <= 650
    assert len({item["document_id"] for item in documents}) == N_DOCUMENTS


@pytest.mark.parametrize("topic", [FERRY, REPAIR], ids=["ferry", "repair"])
def test_the_importer_of_published_files_takes_it_without_a_warning(topic: dict[str, Any]) -> None:
    problems = Problems()
    read = summhay.parse(BytesIO(json.dumps(topic).encode()), problems=problems, name="demo")
    assert not problems.counts
    assert [item.number for item in read.documents] == list(range(1, len(topic["documents"]) + 1))
    assert {(item.key, item.gold_documents) for item in read.subtopics[0].insights} == {
        (item["insight_id"], tuple(gold(topic)[item["insight_id"]])) for item in topic["subtopics"][0]["insights"]
    }


def test_there_are_six_subtopics_of_six_insights_each_told_by_five_to_nine_documents() -> None:
    assert [len(item["insights"]) for item in FERRY["subtopics"]] == [6] * 6
    told = gold(FERRY)
    known = {item["insight_id"] for subtopic in FERRY["subtopics"] for item in subtopic["insights"]}
    assert set(told) == known
    assert all(5 <= len(numbers) <= 9 for numbers in told.values())


def test_a_document_tells_several_insights_and_no_subtopic_is_in_every_document() -> None:
    of_subtopic = {
        item["insight_id"]: subtopic["subtopic_id"]
        for subtopic in FERRY["subtopics"]
        for item in subtopic["insights"]
    }
    seen: Counter[str] = Counter()
    breadth: list[int] = []
    for document in FERRY["documents"]:
        present = {of_subtopic[item] for item in document["insights_included"]}
        breadth.append(len(present))
        assert len(document["insights_included"]) >= 2
        seen.update(present)
    assert sorted(breadth)[-2] <= 3, "one overview may touch them all, no more"
    assert all(12 <= count <= 24 for count in seen.values())


@pytest.mark.parametrize("subtopic", FERRY["subtopics"], ids=lambda item: item["subtopic_name"])
def test_the_token_budget_shows_ten_to_fourteen_documents_each_with_an_insight(subtopic: dict[str, Any]) -> None:
    shown = shown_documents(subtopic)
    assert 10 <= len(shown) <= 14
    told = gold(FERRY)
    wanted = [told[item["insight_id"]] for item in subtopic["insights"]]
    assert all(any(number in numbers for numbers in wanted) for number in shown)
    assert all(set(numbers) & set(shown) for numbers in wanted), "an insight is not to be seen at all"


@pytest.mark.parametrize("topic", [FERRY, REPAIR], ids=["ferry", "repair"])
def test_an_insights_figures_are_in_its_documents_and_nowhere_else(topic: dict[str, Any]) -> None:
    for subtopic in topic["subtopics"]:
        for insight in subtopic["insights"]:
            found = [
                document["idx"] + 1
                for document in topic["documents"]
                if re.search(MARKERS[insight["insight_id"]], document["document_text"])
            ]
            assert found == gold(topic)[insight["insight_id"]], insight["insight_name"]


def test_no_run_of_nine_words_is_shared_by_documents() -> None:
    seen: dict[str, set[int]] = defaultdict(set)
    for document in FERRY["documents"]:
        words = re.findall(r"[\w£:.'-]+", document["document_text"].lower())
        for start in range(len(words) - 8):
            seen[" ".join(words[start : start + 9])].add(document["idx"])
    assert {run for run, numbers in seen.items() if len(numbers) > 1} == set()


def test_documents_begin_and_end_in_ways_of_their_own() -> None:
    documents = FERRY["documents"]
    assert len({" ".join(item["document_text"].split()[:4]).lower() for item in documents}) >= 45
    assert len({" ".join(item["document_text"].split()[-4:]).lower() for item in documents}) == N_DOCUMENTS
    assert len({item["document_metadata"]["kind"] for item in documents}) >= 15
    assert len({item["document_metadata"]["title"] for item in documents}) >= 25


def test_no_text_shows_how_it_was_put_together() -> None:
    for name, text in all_texts().items():
        assert text == text.strip(), name
        assert not re.search(r"[{}<>_|]|\bTODO\b|  |\n\n\n|[ \t]\n| [,;.]|\.\.", text), name


def test_each_subtopic_has_summaries_of_six_summarizers_under_several_retrievers() -> None:
    for subtopic in FERRY["subtopics"]:
        names = [key.removeprefix("summary_subtopic_").rpartition("_") for key in subtopic["summaries"]]
        assert len({model for _, _, model in names}) >= 6
        assert {"", "keywords", "vector", "oracle"} <= {retriever for retriever, _, _ in names}
        assert all(len(lines) >= 2 for lines in subtopic["summaries"].values())


def test_citations_are_documents_except_for_one_that_is_wrong_on_purpose() -> None:
    for subtopic in FERRY["subtopics"]:
        unknown = {
            key: [number for number in citations("\n".join(lines)) if not 1 <= number <= N_DOCUMENTS]
            for key, lines in subtopic["summaries"].items()
        }
        assert {key: found for key, found in unknown.items() if found} == {"summary_subtopic_jay-base": [51]}


def test_citations_come_in_several_styles() -> None:
    text = "\n".join(
        line for subtopic in FERRY["subtopics"] for lines in subtopic["summaries"].values() for line in lines
    )
    for style in (r"\[\d+, \d+", r"\[\d+\]\[\d+\]", r"\[\d+; \d+", r"\d+-\d+[,\]]", r"\d\]\."):
        assert re.search(style, text), style


def test_some_summaries_open_with_a_preamble_or_a_heading() -> None:
    openings = {
        lines[0]
        for subtopic in FERRY["subtopics"]
        for lines in subtopic["summaries"].values()
        if not re.match(r"[-*•]|\d+\.", lines[0])
    }
    assert any(line.startswith("## ") for line in openings)
    assert any(line.endswith(":") for line in openings)


def test_systems_differ_in_what_they_cover_and_in_what_they_cite() -> None:
    told = gold(FERRY)
    worth = {"FULL_COVERAGE": 1.0, "PARTIAL_COVERAGE": 0.5, "NO_COVERAGE": 0.0}
    coverage: dict[str, list[float]] = defaultdict(list)
    recall: dict[str, list[float]] = defaultdict(list)
    for subtopic in FERRY["subtopics"]:
        for key, verdicts in subtopic["eval_summaries"].items():
            for verdict in verdicts:
                coverage[key].append(worth[verdict["coverage"]])
                if verdict["bullet_id"] != "NA":
                    cited = citations(subtopic["summaries"][key][verdict["bullet_id"] - 1])
                    right = told[verdict["insight_id"]]
                    recall[key].append(len(set(cited) & set(right)) / len(right))

    def mean(values: list[float]) -> float:
        return sum(values) / len(values)

    prefix = "summary_subtopic_"
    best, poor = f"{prefix}oracle_plover-large", f"{prefix}keywords_magpie-7b"
    assert mean(coverage[best]) > mean(coverage[f"{prefix}vector_wren-mini"]) > mean(coverage[poor]) > 0
    assert mean(coverage[f"{prefix}heron-128k"]) > mean(coverage[f"{prefix}fl-ctxt-middle_heron-128k"])
    assert mean(recall[f"{prefix}oracle_bittern"]) > mean(recall[f"{prefix}jay-base"]) + 0.2


def test_imported_verdicts_are_of_the_published_shape_and_not_without_error() -> None:
    right = wrong = 0
    for subtopic in FERRY["subtopics"]:
        assert len(subtopic["summaries"]) > len(subtopic["eval_summaries"]) >= 0.8 * len(subtopic["summaries"])
        for key, verdicts in subtopic["eval_summaries"].items():
            lines = subtopic["summaries"][key]
            assert [item["insight_id"] for item in verdicts] == [
                item["insight_id"] for item in subtopic["insights"]
            ]
            for verdict in verdicts:
                assert (verdict["bullet_id"] == "NA") == (verdict["coverage"] == "NO_COVERAGE")
                if verdict["bullet_id"] != "NA":
                    assert 1 <= verdict["bullet_id"] <= len(lines)
                if verdict["coverage"] == "FULL_COVERAGE":
                    line = lines[verdict["bullet_id"] - 1].replace("%", " per cent").replace("-metre", " metres")
                    found = bool(re.search(MARKERS[verdict["insight_id"]], line))
                    right, wrong = right + found, wrong + (not found)
    assert right > 4 * wrong > 0


def test_retriever_scores_rank_every_document_and_the_random_one_ranks_worst() -> None:
    ids = {item["document_id"] for item in FERRY["documents"]}
    for subtopic in FERRY["subtopics"]:
        oracle = subtopic["retriever"]["oracle"]
        hits = {}
        for name, scores in subtopic["retriever"].items():
            assert set(scores) == ids
            best = sorted(ids, key=lambda item: (-scores[item], item))[:12]
            hits[name] = sum(oracle[item] for item in best)
        assert hits["oracle"] >= hits["rerank"] >= hits["random"]
        assert hits["vector"] > hits["random"]


def test_the_practice_haystack_is_small_and_shows_all_of_its_documents() -> None:
    assert 6 <= len(REPAIR["documents"]) <= 8
    assert len(REPAIR["subtopics"]) == 1
    assert len(REPAIR["subtopics"][0]["insights"]) == 4
    assert all(len(numbers) >= 3 for numbers in gold(REPAIR).values())
    words = [len(item["document_text"].split()) for item in REPAIR["documents"]]
    assert sum(words) < 1_400


def test_questions_span_all_categories_and_ten_domains() -> None:
    assert len(QUESTIONS) >= 10
    assert {item["category"] for item in QUESTIONS} == set(long2rag.CATEGORIES)
    assert len({item["domain"] for item in QUESTIONS}) == 10
    assert len({item["key"] for item in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda item: item["key"])
def test_a_question_has_documents_key_points_and_responses_in_number(question: dict[str, Any]) -> None:
    assert 2 <= len(question["documents"]) <= 4
    assert all(len(item["text"].split()) >= 200 for item in question["documents"])
    assert 4 <= len(question["key_points"]) <= 8
    assert 2 <= len(question["responses"]) <= 5
    assert len({item["system"] for item in question["responses"]}) == len(question["responses"])


def test_every_system_answers_enough_common_questions_for_intervals() -> None:
    answered = [{item["system"] for item in question["responses"]} for question in QUESTIONS]
    assert sum(systems == set.union(*answered) for systems in answered) >= 5


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda item: item["key"])
def test_spans_occur_literally_in_their_documents(question: dict[str, Any]) -> None:
    for point in question["key_points"]:
        assert point["spans"], point["key"]
        assert 0 <= point["autods"] <= 1
        for span in point["spans"]:
            assert question["documents"][span["document"]]["text"].count(span["text"]) == 1
            assert len(span["text"]) > 15


def test_some_key_points_rest_on_several_spans_and_some_are_bad_on_purpose() -> None:
    points = {item["key"]: item for question in QUESTIONS for item in question["key_points"]}
    assert sum(len(item["spans"]) > 1 for item in points.values()) >= 5
    assert set(FLAWS) <= set(points)
    assert Counter(FLAWS.values())["not grounded"] >= 8
    assert Counter(FLAWS.values())["not key"] >= 4
    assert len(FLAWS) < len(points) / 3


def test_the_usual_autods_threshold_filters_some_key_points_and_is_wrong_about_some() -> None:
    points = {item["key"]: item["autods"] >= 0.7 for question in QUESTIONS for item in question["key_points"]}
    found = Counter((key in FLAWS, passes) for key, passes in points.items())
    assert found[True, False] >= 5, "filtered, rightly"
    assert found[False, False] >= 1, "filtered, though it is key"
    assert found[True, True] >= 5, "kept, though it is not key"
    assert found[False, True] > len(points) / 2


def test_there_are_past_sessions_on_each_subtopic_two_on_three_of_them() -> None:
    pairs = {(item["subtopic"], item["writer"]) for item in SESSIONS}
    assert len(pairs) == len(SESSIONS) == 9
    known = {item["subtopic_id"] for item in FERRY["subtopics"]}
    by_subtopic = Counter(subtopic for subtopic, _ in pairs)
    assert set(by_subtopic) == known
    assert sorted(by_subtopic.values()) == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("session", SESSIONS, ids=lambda item: item["writer"])
def test_a_past_session_grows_over_an_hour_or_more_and_cites_late(session: dict[str, Any]) -> None:
    drafts = drafts_of(session)
    times = [at for at, _ in drafts]
    assert times == sorted(set(times))
    assert 25 <= len(times) <= 60
    assert 60 * 60_000 <= times[-1] <= 110 * 60_000
    assert len(drafts[0][1].splitlines()) <= 2
    final = drafts[-1][1]
    assert all(line.startswith("- ") and citations(line) for line in final.splitlines())
    half = next(text for at, text in reversed(drafts) if at <= times[-1] * 0.55)
    assert len(half.splitlines()) >= 5
    assert len(citations(half)) <= 0.6 * len(citations(final))
    for start, duration in session["pauses"]:
        assert 0 < start < times[-1]
        assert 60_000 <= duration <= 30 * 60_000


@pytest.mark.parametrize("session", SESSIONS, ids=lambda item: item["writer"])
def test_a_writer_cites_only_documents_that_were_shown(session: dict[str, Any]) -> None:
    [subtopic] = [item for item in FERRY["subtopics"] if item["subtopic_id"] == session["subtopic"]]
    shown = set(shown_documents(subtopic))
    assert {number for _, text in drafts_of(session) for number in citations(text)} <= shown


def test_sources_are_the_documents_of_questions_in_five_passages() -> None:
    for source, question in zip(read("sources.jsonl"), QUESTIONS, strict=True):
        passages = [document["text"] for document in source["documents"]]
        assert len(passages) == 5
        assert min(len(text.split()) for text in passages) > 50
        assert "\n\n".join(passages) == "\n\n".join(document["text"] for document in question["documents"])
        assert set(source["reference"]) < {point["text"] for point in question["key_points"]}
