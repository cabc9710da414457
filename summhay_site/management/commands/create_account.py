"""Make an account from the command line: the way to the first admin."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from summhay_site.accounts.accounts import NewAccount, UsernameTaken, create_account, make_link
from summhay_site.accounts.models import ANNOTATOR, BY_RANK
from summhay_site.models import User


class Command(BaseCommand):
    """`manage.py create_account USERNAME --role admin`: prints a link to set the password."""

    help = "Make an account and print the one-time link by which its password is set."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--role", choices=BY_RANK, default=ANNOTATOR)
        parser.add_argument("--name", default="")
        parser.add_argument("--email", default="")
        parser.add_argument("--base-url", default="http://localhost:8000/", help="The address of this site.")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        row = NewAccount(username=options["username"], name=options["name"], email=options["email"])
        try:
            User(username=row.username, name=row.name, email=row.email).clean_fields(exclude=["password"])
            user = create_account(actor=None, row=row, role=options["role"], now=now)
        except ValidationError as error:
            said = (f"{name}: {' '.join(sentences)}" for name, sentences in error.message_dict.items())
            raise CommandError("\n".join(said)) from error
        except UsernameTaken as error:
            raise CommandError(f"The user name {error} exists already.") from error
        link = make_link(actor=None, user=user, base_url=options["base_url"], now=now)
        self.stdout.write(
            f"{user.username} ({options['role']}) sets a password here, until {link.expires_at:%c} UTC:"
        )
        self.stdout.write(link.url)
