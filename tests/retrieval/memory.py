"""A memory of what servers answered, for retrievers without a database."""

from collections.abc import Collection, Mapping


class ForgetfulMemory(dict[str, bytes]):
    """A memory that lasts as long as the object, without a limit."""

    def before_request(self) -> None:
        """Send it."""

    def recall(self, keys: Collection[str]) -> dict[str, bytes]:
        """Those that are known."""
        return {key: self[key] for key in keys if key in self}

    def keep(self, answers: Mapping[str, bytes]) -> None:
        """Store more."""
        self.update(answers)
