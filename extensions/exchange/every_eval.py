"""Every Eval Ever, schema 0.3.0: a file of each system and of people, with one of samples beside it.

Their tree is `data/BENCHMARK/DEVELOPER/MODEL/UUID.json`. Additional details are texts, as their schema asks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.utils.text import slugify

from benchmarks.models import Judge
from benchmarks.scoring.stat import Stat
from benchmarks.system_names import family_of
from benchmarks.web.downloads import json_file
from extensions.exchange.collected import MADE_WITH, Answer, Collection, Out, Run
from summhay_site.privacy import SITE_NAME

SCHEMA_VERSION = "0.3.0"
UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}
NO_PROMPT = "Left out, since published prompts leak a benchmark."
PROGRAMS = (Judge.Kind.LEXICAL.value,)
"""Judges that are no language models."""


def files(collection: Collection) -> Iterator[Out]:
    people = next((run for run in collection.runs if run.is_people), None)
    for run in collection.runs:
        uid = collection.id_of("every_eval_ever", run.title)
        folder = f"data/{collection.name}/{_model_id(run)}"
        evaluation = (collection.name, run.setting, _model_id(run), f"{collection.made_at.timestamp():.0f}")
        about = {"schema_version": SCHEMA_VERSION, "evaluation_id": "/".join(evaluation)}
        rows = [
            orjson.dumps(about | row, option=orjson.OPT_APPEND_NEWLINE)
            for answer in run.answers
            for row in _samples(collection, run, answer)
        ]
        path = f"{folder}/{uid}_samples.jsonl"
        samples = {
            "format": "jsonl",
            "file_path": path,
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(b"".join(rows)).hexdigest(),
            "total_rows": len(rows),
        }
        log = about | _log(collection, run, people) | {"detailed_evaluation_results": samples}
        yield f"{folder}/{uid}.json", f"Results of {run.title}", json_file(log)
        yield path, f"Samples of {run.title}", rows


def _model_id(run: Run) -> str:
    """“FAMILY/MODEL”: the place of a developer, whom nobody stored here, has the family; of people “people”."""
    family = run.system if run.is_people else family_of(run.system)
    return "/".join(slugify(part, allow_unicode=True) or "other" for part in (family, run.system))


def _log(collection: Collection, run: Run, people: Run | None) -> dict[str, Any]:
    return {
        "evaluation_timestamp": collection.made_at.isoformat(timespec="seconds"),
        "retrieved_timestamp": f"{collection.made_at.timestamp():.0f}",
        "source_metadata": {
            "source_name": collection.title,
            "source_type": "evaluation_run",
            "source_organization_name": SITE_NAME,
            "evaluator_relationship": "other" if run.is_people else "third_party",
            "additional_details": {"left_out": collection.choices.left_out},
        },
        "eval_library": MADE_WITH,
        "model_info": {
            "name": run.title,
            "id": _model_id(run),
            "additional_details": {**UNKNOWN, "is_people": str(run.is_people).lower(), "setting": run.setting},
        },
        "evaluation_results": [
            _result(collection, name, stat, people if people is not run else None)
            for name, stat in run.stats.items()
            if stat.value is not None
        ],
    }


def _result(collection: Collection, name: str, stat: Stat, people: Run | None) -> dict[str, Any]:
    baseline = people.stats[name].value if people is not None and name in people.stats else None
    interval = {"lower": stat.low, "upper": stat.high, "confidence_level": 0.95, "method": stat.method}
    return {
        "evaluation_result_id": name,
        "evaluation_name": f"{collection.title}: {name}",
        "source_data": {"dataset_name": collection.name, "source_type": "other"},
        "metric_config": {
            "metric_id": f"summhay.{name}",
            "metric_name": name,
            "metric_unit": "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            **_scoring(collection.judge, baseline),
        },
        "score_details": {
            "score": stat.value,
            "details": {"n_insights": str(stat.n_items), "n_clusters": str(stat.n_clusters or "")},
            "uncertainty": {"confidence_interval": interval} if stat.low is not None else None,
        },
    }


def _scoring(judge: Judge | None, baseline: float | None) -> Mapping[str, Any]:
    """A model that judges, beside people's own score; of other judges the name."""
    about = {"judge": str(judge)} | ({} if baseline is None else {"people": f"{baseline:.6f}"})
    if judge is None or judge.kind in PROGRAMS:
        return {"additional_details": about}
    model = str(judge.config.get("model") or judge.name)
    info = {"name": model, "id": f"{family_of(model)}/{model.rpartition('/')[2]}", "additional_details": UNKNOWN}
    return {
        "llm_scoring": {
            "judges": [{"model_info": info, "additional_details": {"settings_sha256": judge.config_sha256}}],
            "input_prompt": NO_PROMPT,
            "expert_baseline": baseline,
        },
        "additional_details": about,
    }


def _samples(collection: Collection, run: Run, answer: Answer) -> Iterator[dict[str, Any]]:
    """A row for each measure that a text has; “correct” is a full score."""
    reference = [point.text for point in answer.points if point.text]
    digest = hashlib.sha256("".join((answer.query, *reference)).encode()).hexdigest()
    work = answer.work
    for name, score in answer.scores.items():
        yield {
            "model_id": _model_id(run),
            "evaluation_name": f"{collection.title}: {name}",
            "evaluation_result_id": name,
            "sample_id": answer.task,
            "sample_hash": digest,
            "interaction_type": "single_turn",
            "input": {"raw": answer.query, "reference": reference},
            "output": {"raw": [answer.text] if answer.text else []},
            "answer_attribution": [],
            "evaluation": {"score": score, "is_correct": score == 1.0},
            "performance": None
            if work is None
            else {"latency_ms": work.active_ms + work.paused_ms, "generation_time_ms": work.active_ms},
            "metadata": {"epoch": answer.epoch, **(work.as_json() if work else {})},
        }
