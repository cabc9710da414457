"""The broker that is a folder: a worker never sees half a message, and an unreadable one does not end it."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from kombu import Connection

import summhay_site.celery  # noqa: F401 - it names the transport
from summhay_site.operations import folder_broker

Open = Callable[[], Any]


@pytest.fixture
def open_channel(tmp_path: Path) -> Open:
    """Channels of processes of their own on one pair of folders."""
    for name in ("queue", "control"):
        (tmp_path / "site" / name).mkdir(parents=True)
    folders = {"data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "control"}
    options = {key: str(tmp_path / "site" / name) for key, name in folders.items()}
    return lambda: Connection("filesystem://", transport_options=options).channel()


def test_messages_come_back_in_order(open_channel: Open) -> None:
    writer, reader = open_channel(), open_channel()
    assert isinstance(writer, folder_broker.Channel)
    for number in range(3):
        writer._put("work", {"number": number})
    assert sorted(reader._get("work")["number"] for _ in range(3)) == [0, 1, 2]
    with pytest.raises(Empty):
        reader._get("work")


def test_a_message_that_is_being_written_is_not_taken(
    open_channel: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, seen = open_channel(), []
    write = Path.write_bytes

    def look_in_between(path: Path, content: bytes) -> int:
        path.touch()
        try:
            seen.append(reader._get("work"))
        except Empty:
            seen.append("nothing")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", look_in_between)
    open_channel()._put("work", {"number": 1})
    assert seen == ["nothing"]
    assert reader._get("work") == {"number": 1}
    assert list((tmp_path / "site" / "queue").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b'{"half', b"\xff\xfe"])
def test_an_unreadable_message_is_dropped_and_the_next_one_taken(
    open_channel: Open, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "site" / "queue" / "0_broken.work.msg").write_bytes(content)
    channel = open_channel()
    channel._put("work", {"number": 1})
    assert channel._get("work") == {"number": 1}
    assert list((tmp_path / "site" / "queue").iterdir()) == []


def test_folders_that_were_deleted_are_made_again_and_messages_find_their_way(
    open_channel: Open, tmp_path: Path, settings
) -> None:
    writer, reader = open_channel(), open_channel()
    for channel in (writer, reader):
        channel.exchange_declare(settings.SHORT, "direct")
        channel.queue_declare(settings.SHORT)
        channel.queue_bind(settings.SHORT, settings.SHORT, settings.SHORT)
    shutil.rmtree(tmp_path / "site")
    with pytest.raises(Empty):
        reader._get(settings.SHORT)
    shutil.rmtree(tmp_path / "site")
    writer.basic_publish(writer.prepare_message("work"), exchange=settings.SHORT, routing_key=settings.SHORT)
    assert reader._get(settings.SHORT)["body"]
    assert reader._size(settings.SHORT) == 0
    assert (tmp_path / "site" / "queue").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_cannot_be_written_to_does_not_answer(open_channel: Open, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "site")
    (tmp_path / "site").touch()
    with pytest.raises(OSError, match="site"):
        open_channel()


def test_many_processes_bind_and_send_at_the_same_time(open_channel: Open) -> None:
    failures: list[Exception] = []

    def work(name: str) -> None:
        try:
            channel = open_channel()
            channel._queue_bind("all", "", "", name)
            for number in range(20):
                channel._put_fanout("all", {"number": number}, "")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[f"q{at}"]) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert {row.queue for row in open_channel().get_table("all")} == {f"q{at}" for at in range(8)}
