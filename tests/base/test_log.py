"""The logger that warnings go to."""

import contextlib
import io
import logging
import threading

from intaglio.base import log


def test_logger_has_a_handler_of_its_own_if_the_root_has_none(monkeypatch):
    found = logging.getLogger("tensorflow")
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    monkeypatch.setattr(found, "handlers", [])
    monkeypatch.setattr(log, "_ready", threading.Event())
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream):
        log.logger().warning("hello %d", 3)
        log.logger().info("not shown")
    assert stream.getvalue() == "WARNING:tensorflow:hello 3\n"
    assert len(found.handlers) == 1


def test_logger_leaves_the_root_handlers_alone(monkeypatch):
    found = logging.getLogger("tensorflow")
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.NullHandler()])
    monkeypatch.setattr(found, "handlers", [])
    monkeypatch.setattr(log, "_ready", threading.Event())
    assert log.logger().handlers == []
    assert log.logger().propagate
