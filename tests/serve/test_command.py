"""`intaglio serve` as a process: it starts, answers, swaps versions, and stops without losing a request."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from intaglio.serve import command
from tests.serve import models

SECONDS = 120


@pytest.fixture
def started(tmp_path: pathlib.Path) -> Iterator[tuple[subprocess.Popen[str], int, pathlib.Path]]:
    """A server's process, its port, and the folder that it serves."""
    models.save_scaled(tmp_path / "scaled" / "1", 2.0)
    command_line = [sys.executable, "-m", "intaglio", "serve", str(tmp_path)]
    options = ["--port", "0", "--poll-seconds", "0.05", "--batch-rows", "16"]
    process = subprocess.Popen(
        [*command_line, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/v1/models", line)
        assert found, line + process.stderr.read()
        yield process, int(found[1]), tmp_path
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def _post(connection: http.client.HTTPConnection, values: list[float]) -> tuple[int, Any]:
    connection.request("POST", "/v1/models/scaled:predict", json.dumps({"instances": values}))
    response = connection.getresponse()
    return response.status, json.loads(response.read())


@contextlib.contextmanager
def _connected(port: int) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    with contextlib.closing(connection):
        yield connection


def test_a_server_swaps_versions_and_stops_without_losing_requests(
    started: tuple[subprocess.Popen[str], int, pathlib.Path],
) -> None:
    _, port, folder = started
    stop = threading.Event()
    wrong: list[Any] = []
    factors: set[float] = set()

    def ask() -> None:
        with _connected(port) as connection:
            while not stop.is_set():
                status, body = _post(connection, [1.0])
                if status != 200 or body["predictions"][0] not in (2.0, 3.0):
                    wrong.append((status, body))
                    return
                factors.add(body["predictions"][0])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    models.save_scaled(folder / "new", 3.0)
    (folder / "new").rename(folder / "scaled" / "2")
    deadline = time.monotonic() + SECONDS
    while 3.0 not in factors and time.monotonic() < deadline and not wrong:
        time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong and 3.0 in factors


def test_a_request_that_has_begun_is_answered_after_the_signal(
    started: tuple[subprocess.Popen[str], int, pathlib.Path],
) -> None:
    process, port, _ = started
    body = b'{"instances": [5.0]}'
    with _connected(port) as late, _connected(port) as other:
        late.putrequest("POST", "/v1/models/scaled:predict")
        late.putheader("content-length", str(len(body)))
        late.endheaders(body[:3])
        found = _post(other, [1.0, 4.0])  # the server has read what was sent before
        assert found == (200, {"predictions": [2.0, 8.0]})
        process.send_signal(signal.SIGTERM)
        late.send(body[3:])
        response = late.getresponse()
        assert (response.status, json.loads(response.read())) == (200, {"predictions": [10.0]})
    assert process.wait(SECONDS) in (0, -signal.SIGTERM)
    with pytest.raises(ConnectionRefusedError), _connected(port) as connection:
        connection.connect()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--host", "0.0.0.0"], "give --token-file FILE"),
        (["--host", "::"], "give --token-file FILE"),
        (["--host", "example.com"], "give --token-file FILE"),
        (["--host", "0.0.0.0", "--token-file", "short"], "16 or more characters"),
        (["--token-file", "nothing"], "nothing"),
        (["--certificate", "c.pem"], "go together"),
        (["--max-rows", "0"], "--max-rows must be greater than 0"),
        (["--batch-rows", "-1"], "--batch-rows must not be negative"),
    ],
)
def test_wrong_options(
    options: list[str],
    message: str,
    tmp_path: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(command.TOKEN_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("secret\n")
    with pytest.raises(SystemExit) as stopped:
        command.main([str(tmp_path), "--port", "0", *options])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_tokens_come_from_files_and_the_environment(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("0123456789abcdef\n")
    monkeypatch.setitem(os.environ, command.TOKEN_VARIABLE, "fedcba9876543210")
    assert command._token(str(tmp_path / "token")) == "0123456789abcdef"
    assert command._token(None) == "fedcba9876543210"
    monkeypatch.delenv(command.TOKEN_VARIABLE)
    assert command._token(None) == ""


def test_a_folder_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["/nothing/here", "--port", "0"])
    assert "is no folder" in capsys.readouterr().err
