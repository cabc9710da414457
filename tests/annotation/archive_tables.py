"""Reads the tables of an archive with pandas, as somebody does who has nothing but the archive."""

import io
from pathlib import Path

import pandas as pd
import yaml

from tests.audit.altering import read_members

LABELS = ("annotator", "task", "item")
"""What tells the labels of a study apart, as far as a kind has these columns."""
KEYS = {
    "labels.csv": LABELS,
    "labels-first.csv": LABELS,
    "labels-history.csv": (*LABELS, "made_at"),
    "adjudicated.csv": ("task", "item"),
    "annotators.csv": ("annotator",),
    "key-points.csv": ("dataset", "question", "key_point"),
    "sessions.csv": ("session",),
    "periods.csv": ("session", "seq"),
    "credits.csv": ("session", "at"),
    "curve.csv": ("series", "rule", "measure", "mark_ms", "final_text"),
    "verdicts.csv": (
        "judge",
        "task",
        "item",
        "haystack",
        "subtopic",
        "system",
        "retriever",
        "document_order",
        "insight",
    ),
    "figures.csv": ("part", "row", "figure"),
}
COVERAGE = {"none": 0.0, "partial": 50.0, "full": 100.0}


def tables_of(path: Path) -> dict[str, pd.DataFrame]:
    """The tables of an archive by their names; each has columns that tell its rows apart."""
    tables = {
        name: pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])
        for name, content in read_members(path).items()
        if name.endswith(".csv")
    }
    for name, table in tables.items():
        keys = [key for key in KEYS[name] if key in table]
        twice = table[table.duplicated(keys, keep=False)]
        assert twice.empty, f"{name} has rows that {keys} do not tell apart:\n{twice}"
    assert tables["figures.csv"]["value"].dtype == float
    assert hub_tables(path) == {name for name, table in tables.items() if len(table)}
    return tables


def hub_tables(path: Path) -> set[str]:
    """The tables that the data-set card names for `datasets.load_dataset`, which fails at one without rows."""
    front = yaml.safe_load(read_members(path)["README.md"].decode().split("---\n")[1])
    return {file["path"] for config in front["configs"] for file in config["data_files"]}


def figure(tables: dict[str, pd.DataFrame], part: str, row: str, name: str) -> float:
    """A figure of the page, as `figures.csv` has it."""
    rows = tables["figures.csv"].fillna({"row": ""}).set_index(["part", "row", "figure"])
    return float(rows.loc[(part, row, name), "value"])


def agreement(labels: pd.DataFrame) -> float:
    """The share of pairs of people who say the same, over items."""
    counts = labels.groupby(["item", "label"]).size()
    n = counts.groupby("item").sum()
    alike = (counts * (counts - 1)).groupby("item").sum() / (n * (n - 1))
    return float(alike.mean())
