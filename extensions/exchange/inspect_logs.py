"""Logs of Inspect (version 2) and scores for `precomputed_scores`: a log and a file of scores of each run.

A log of people has sessions as samples. The time limit of Inspect that leaves pauses out is “working”.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.exports.figures import settings_of
from benchmarks.scoring.stat import Stat
from benchmarks.web.downloads import json_file, json_lines
from extensions.exchange.collected import MADE_WITH, TIMED_OUT, Answer, Collection, Out, Run, Work


def files(collection: Collection) -> Iterator[Out]:
    """Labels of people have no log of their own: their scores join the log of the system by ids of samples."""
    for run in collection.runs:
        if collection.judge is not None:
            made_at = collection.made_at.strftime("%Y-%m-%dT%H-%M-%S+00-00")
            task_id = collection.id_of("task_id", run.title).replace("-", "")
            name = f"{made_at}_{run.name.replace('_', '-')}_{task_id}.json"  # as Inspect finds logs in folders
            yield f"logs/{name}", f"Log of {run.title}", json_file(log_of(collection, run))
        scores = json_lines(_record(answer) for answer in run.answers if answer.scores)
        yield f"scores/{run.name}.jsonl", f"Scores of {run.title} for precomputed_scores", scores


def log_of(collection: Collection, run: Run) -> dict[str, Any]:
    # of the provider “none”, which asks nothing: scorers refuse unknown providers
    model, judge = "/".join(("none", run.system.replace("/", "_"))), collection.judge
    ids = {name: collection.id_of(name, run.title) for name in ("eval_id", "run_id", "task_id")}
    begun = [answer.work.started_at for answer in run.answers if answer.work]
    ended = [answer.work.ended_at for answer in run.answers if answer.work and answer.work.ended_at]
    return {
        "version": 2,
        "status": "success",
        "eval": {
            **ids,
            "created": collection.made_at.isoformat(timespec="seconds"),
            "task": collection.name,
            "task_display_name": collection.title,
            "dataset": {
                "name": collection.name,
                "samples": len({answer.task for answer in run.answers}),
                "sample_ids": sorted({answer.task for answer in run.answers}),
            },
            "model": model,
            "config": {"epochs": max((answer.epoch for answer in run.answers), default=1)},
            "packages": {MADE_WITH["name"]: MADE_WITH["version"]},
            "metadata": {
                "setting": run.setting,
                "is_people": run.is_people,
                "judge": {}
                if judge is None
                else {"name": str(judge), "kind": judge.kind, "settings": settings_of(judge)},
                "left_out": collection.choices.left_out,
            },
        },
        "plan": {"name": "people" if run.is_people else "summarizer", "steps": [], "config": {}},
        "results": {
            "total_samples": len(run.answers),
            "completed_samples": len(run.answers),
            "scores": [
                _total(name, str(collection.judge), stat)
                for name, stat in run.stats.items()
                if stat.value is not None
            ],
        },
        "stats": {
            "started_at": _moment(min(begun, default=None)),
            "completed_at": _moment(max(ended, default=None)),
            "model_usage": {},
        },
        "samples": [_sample(collection, model, answer) for answer in run.answers],
    }


def _total(name: str, scorer: str, stat: Stat) -> dict[str, Any]:
    of = {"low": stat.low, "high": stat.high, "n": stat.n_items, "n_clusters": stat.n_clusters}
    about = {**of, "method": stat.method, "reason": stat.reason}
    metrics = {"mean": {"name": "mean", "value": stat.value, "params": {}, "metadata": about}}
    return {"name": name, "scorer": scorer, "params": {}, "metrics": metrics}


def _sample(collection: Collection, model: str, answer: Answer) -> dict[str, Any]:
    points = {point.key: point.label for point in answer.points}
    scores = {name: _score(value) for name, value in answer.scores.items()}
    if points and scores:
        next(iter(scores.values()))["metadata"] = {"labels": points}
    sample: dict[str, Any] = {
        "id": answer.task,
        "epoch": answer.epoch,
        "input": answer.query,
        "target": [point.text for point in answer.points if point.text],
        "output": {
            "model": model,
            "choices": [{"message": {"role": "assistant", "content": answer.text}, "stop_reason": "stop"}],
        },
        "scores": scores,
        "metadata": {"haystack": answer.family},
        "model_usage": {},
    }
    return sample if answer.work is None else sample | _of_work(answer.work, sample)


def _of_work(work: Work, sample: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's times and outcome, with a score for each point of the curve."""
    curve = {
        f"at_{mark_ms / 60_000:g}_min": {**_score(dict(measures)), "metadata": {"active_ms": mark_ms}}
        for mark_ms, measures in work.curve
    }
    timed_out = {"type": "working", "limit": work.limit_ms / 1_000} if work.outcome == TIMED_OUT else None
    return {
        "uuid": f"{work.session}",
        "started_at": _moment(work.started_at),
        **({"completed_at": _moment(work.ended_at)} if work.ended_at else {}),
        "total_time": (work.active_ms + work.paused_ms) / 1_000,
        "working_time": work.active_ms / 1_000,
        **({"limit": timed_out} if timed_out else {}),
        "scores": sample["scores"] | curve,
        "metadata": sample["metadata"] | work.as_json(),
    }


def _score(value: Any) -> dict[str, Any]:
    return {"value": value, "answer": None, "explanation": None, "metadata": None}


def _moment(moment: Any) -> str:
    return "" if moment is None else str(moment.isoformat())


def _record(answer: Answer) -> dict[str, Any]:
    """A line of `precomputed_scores`: all measures as one value."""
    labels = {point.key: point.label for point in answer.points}
    about = {"person": answer.work.person, "outcome": answer.work.outcome} if answer.work else {}
    return {
        "id": answer.task,
        "epoch": answer.epoch,
        "value": answer.scores,
        "metadata": {"labels": labels, **about},
    }
