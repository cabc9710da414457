"""A web process that ends answers who reached it, and refuses the next at once: a proxy asks another one."""

import selectors
import socket
from typing import Any

import pytest

from summhay_site.serving.web_worker import Worker


def test_a_process_that_ends_takes_who_waits_and_refuses_the_next() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setblocking(False)
    worker = Worker.__new__(Worker)
    taken: list[Any] = []
    worker.sockets, worker.poller, worker.nr_conns, worker._accepting = (
        [listener],
        selectors.DefaultSelector(),
        0,
        False,
    )
    worker.cfg, worker.alive, worker.enqueue_req = None, True, taken.append
    address = listener.getsockname()
    worker.set_accept_enabled(True)
    with socket.create_connection(address), socket.create_connection(address):
        worker.alive = False
        worker.set_accept_enabled(False)
        assert len(taken) == worker.nr_conns == 2
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
    for connection in taken:
        connection.sock.close()
