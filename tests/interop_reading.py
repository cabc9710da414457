"""Reads files of `export_for` by the programs that they are for: run by the Python of `make interop`, not by ours.

`python interop_reading.py FORMAT FOLDER` prints what is wrong, or what was read.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(*words) -> str:
    """What a program prints; it says what is wrong and ends with an error otherwise."""
    told = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    if told.returncode:
        raise AssertionError(f"{told.stdout}{told.stderr}"[-2_000:])
    return told.stdout


def inspect(root: Path) -> Iterator[str]:
    """Logs are read, listed and dumped; scores that were made elsewhere are appended to a log without any."""
    from inspect_ai import score
    from inspect_ai.analysis import samples_df
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import precomputed_scores

    logs = sorted((root / "logs").glob("*.json"))
    n_appended = 0
    for path in logs:
        log = read_eval_log(str(path))
        assert log.status == "success"
        assert log.samples
        assert log.results.total_samples == len(log.samples)
        name = path.stem.split("_")[1]
        [scores] = [each for each in (root / "scores").glob("*.jsonl") if each.stem.replace("_", "-") == name]
        expected = {(row["id"], row["epoch"]): row["value"] for row in rows_of(scores)}
        for sample in log.samples:
            own = {measure: one.value for measure, one in (sample.scores or {}).items() if "_min" not in measure}
            assert own == expected.get((sample.id, sample.epoch), {}), "both say the same"
        again = score(log, precomputed_scores(str(scores), metrics={"*": []}), action="append", display="none")
        for sample in again.samples or []:
            one = (sample.scores or {}).get("precomputed_scores")
            assert (one.value if one else {}) == expected.get((sample.id, sample.epoch), {})
            n_appended += one is not None
    if logs:
        assert json.loads(run(BIN / "inspect", "log", "dump", logs[0], "--header-only"))["version"] == 2
        yield f"{len(samples_df([str(path) for path in logs]))} samples of {len(logs)} logs"
    else:
        for scores in (root / "scores").glob("*.jsonl"):
            precomputed_scores(str(scores))
            n_appended += len(rows_of(scores))
    yield f"{n_appended} scores"


def every_eval_ever(root: Path) -> Iterator[str]:
    paths = [path for path in root.glob("data/**/*") if path.suffix in {".json", ".jsonl"}]
    told = json.loads(run(BIN / "every_eval_ever", "validate", "--format", "json", *paths))
    wrong = [each for each in told if not each["valid"] or each["warnings"]]
    assert not wrong, wrong[:3]
    yield f"{len(told)} files, {sum(each['line_count'] for each in told)} rows"


def nuggetizer(root: Path) -> Iterator[str]:
    from nuggetizer.core.metrics import calculate_nugget_scores

    worth = {"full": 1.0, "partial": 0.5, "yes": 1.0}
    n = 0
    for path in root.glob("*.jsonl"):
        for row in rows_of(path):
            values = [worth.get(nugget["label"], 0.0) for nugget in row["nuggets"]]
            theirs = calculate_nugget_scores(row["qid"], row["nuggets"]).all_score
            assert abs(theirs - sum(values) / len(values)) < 1e-9, row["qid"]
            n += 1
    assert n
    yield f"{n} texts"


def datasets(root: Path) -> Iterator[str]:
    import datasets as hub

    hub.disable_progress_bars()
    for name in hub.get_dataset_config_names(str(root)):
        rows = hub.load_dataset(str(root), name, cache_dir=str(root.parent / "cache"), split="train")
        assert len(rows), name
        yield f"{name}: {len(rows)}"
    told = run(BIN / "mlcroissant", "validate", "--jsonld", root / "croissant.json")
    assert "error(s)" not in told


def shape(*names: str) -> Callable[[Path], Iterator[str]]:
    """For programs that check nothing: every row has what their documentation names."""

    def read(root: Path) -> Iterator[str]:
        rows = [row for path in root.rglob("*.jsonl") for row in rows_of(path)]
        assert rows
        for row in rows:
            assert set(names) <= set(row), set(names) - set(row)
        yield f"{len(rows)} rows of the documented shape"

    return read


READERS: dict[str, Callable[[Path], Iterator[str]]] = {
    "inspect": inspect,
    "every-eval-ever": every_eval_ever,
    "nuggetizer": nuggetizer,
    "datasets": datasets,
    "metr": shape(
        "run_id", "task_id", "task_family", "task_source", "alias", "score_cont", "score_binarized",
        "human_minutes", "started_at", "completed_at",
    ),
    "lm-eval": shape(
        "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
        "prompt_hash", "target_hash",
    ),
}  # fmt: skip

if __name__ == "__main__":
    print(*READERS[sys.argv[1]](Path(sys.argv[2]).resolve()), sep=", ")
