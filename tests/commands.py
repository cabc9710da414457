"""Write `docs/commands.md` from the help of the commands: `make commands`. A test compares the two."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import django
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, DjangoHelpFormatter

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "commands.md"
HEAD = """# Commands

This page is made from the help of the commands: `make commands`. In a checkout:

```
{make}
```

Everything else is `.venv/bin/python manage.py COMMAND`, or `summhay-manage COMMAND` where a wheel is installed.
Each command prints its help with `--help`, never asks anything, and where it fails ends with a sentence and a
status other than 0.
"""
APPS = ("annotation", "benchmarks", "summhay_site", "bench", "extensions.")


def page() -> str:
    """The whole page, as Markdown."""
    parsers = {name: _parser(app, name) for name, app in sorted(get_commands().items()) if app.startswith(APPS)}
    index = [f"| [`{name}`](#{name}) | {_first(parser.description)} |" for name, parser in parsers.items()]
    sections = [line for name, parser in parsers.items() for line in _section(f"## {name}", name, parser)]
    head = HEAD.format(make="\n".join(re.findall(r'@echo "(.+)"', (ROOT / "Makefile").read_text())))
    return "\n".join([head, "| command | what it does |", "|---|---|", *index, *sections, ""])


def _parser(app: str, name: str) -> argparse.ArgumentParser:
    return load_command_class(app, name).create_parser("manage.py", name)


def _section(heading: str, name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """A command with its arguments, and each of its parts in turn."""
    yield from ("", heading, "", parser.description or "")
    actions = _actions(parser)
    parts = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
    rows = [action for action in actions if action not in parts]
    words = [name, *map(_synopsis, rows), *("…" for _ in parts)]
    yield from ("", "```", *_wrapped(" ".join(["manage.py", *words])), "```")
    if rows:
        yield from ("", "| argument | meaning |", "|---|---|")
        yield from (f"| {_names(action)} | {_meaning(action)} |" for action in rows)
    for part in parts:
        helps = {choice.dest: choice.help for choice in part._choices_actions}
        for sub, subparser in part.choices.items():
            subparser.description = subparser.description or f"{helps.get(sub) or ''}".strip()
            yield from _section(f"### {name} {sub}", f"{name} {sub}", subparser)


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """What a command adds to what every command of Django takes."""
    bare = BaseCommand().create_parser("manage.py", "bare", formatter_class=DjangoHelpFormatter)
    common = {action.dest for action in bare._actions}
    return [action for action in parser._actions if action.dest not in common and action.help != argparse.SUPPRESS]


def _synopsis(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return f"[{value}]" if action.nargs in ("?", "*") else value
    text = " ".join(filter(None, [action.option_strings[0], value]))
    return text if action.required else f"[{text}]"


def _value(action: argparse.Action) -> str:
    """How the value of an argument is written; empty for a switch."""
    if action.nargs == 0:
        return ""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    name = action.metavar or choices or action.dest.upper()
    if isinstance(name, tuple):
        return " ".join(name)
    return f"{name} …" if action.nargs in ("*", "+") else str(name)


def _names(action: argparse.Action) -> str:
    names = ", ".join(f"`{name}`" for name in action.option_strings)
    value = _value(action).replace("|", r"\|")
    return " ".join(filter(None, [names, f"`{value}`" if value else ""]))


def _meaning(action: argparse.Action) -> str:
    return " ".join(str((action.help or "") % (vars(action) | {"prog": ""})).split()).replace("|", r"\|")


def _first(text: str | None) -> str:
    """The first sentence."""
    return " ".join((text or "").split()).split(". ")[0].removesuffix(".").replace("|", r"\|")


def _wrapped(text: str, width: int = 110) -> Iterator[str]:
    """Lines of a synopsis, broken between arguments."""
    line = ""
    for word in text.replace(" [", "\n[").split("\n"):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = f"    {word}"
        else:
            line = f"{line} {word}".lstrip() if not line else f"{line} {word}"
    yield line


if __name__ == "__main__":
    django.setup()
    PAGE.write_text(page())
