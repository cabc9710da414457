"""Deciding where people differ without knowing whose answers these are: letters instead of names.

Each item has an order of its own, which stays while the same people answered it; so a letter says nothing about a
person.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from string import ascii_uppercase

from django.http import HttpRequest

from annotation.adjudication.deciding import Said
from annotation.models import Study

PARAMETER = "blind"
"""What an address says for it, with the value 1."""


def is_asked(request: HttpRequest) -> bool:
    """Whether the address asks for letters."""
    return request.GET.get(PARAMETER) == "1"


def letters(study: Study, item: str, people: Iterable[str]) -> dict[str, str]:
    """{person: letter} in the order of the letters; `item` and `people` are ids that stay."""

    def place(person: str) -> str:
        return sha256(f"{study.uid}:{item}:{person}".encode()).hexdigest()

    return {person: _letter(at) for at, person in enumerate(sorted(set(people), key=place))}


def hidden(study: Study, item: str, said: Iterable[Said]) -> tuple[tuple[Said, ...], str]:
    """People who count as letters, without times and judges; and who is who, “A = ben, B = cleo”."""
    people = {person.key: person for person in said if person.is_chosen and not person.is_judge}
    letter_of = letters(study, item, people)
    names = ", ".join(f"{letter} = {people[key].name}" for key, letter in letter_of.items())
    return tuple(replace(people[key], name=letter, made_at=None) for key, letter in letter_of.items()), names


def _letter(at: int) -> str:
    round_, place = divmod(at, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")
