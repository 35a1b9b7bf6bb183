"""Models that the tests serve."""

from __future__ import annotations

import contextlib
import http.client
import json
import pathlib
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import uvicorn

from intaglio import tf
from intaglio.serve.application import Limits, Server
from intaglio.serve.versions import Models

# What saved models say that TensorFlow wrote, and TensorFlow's answers.
RECORDED = pathlib.Path(__file__).parents[1] / "saved_model"


def save(folder: pathlib.Path, function: Any, *specs: tf.TensorSpec) -> None:
    """Saves a function of tensors with the default signature."""
    module = tf.Module()
    module.f = tf.function(function, input_signature=specs)
    tf.saved_model.save(module, str(folder), signatures=module.f)


def save_scaled(folder: pathlib.Path, factor: float) -> None:
    """A model of one open dimension that multiplies."""
    save(folder, lambda x: x * factor, tf.TensorSpec([None], tf.float32, name="x"))


SECONDS = 60


def _text(value: Any) -> str:
    return json.dumps(value)


class Response(NamedTuple):
    """A response that has been read."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """The body's value."""
        return json.loads(self.content)


class Client:
    """Requests to a server on this machine."""

    def __init__(self, port: int, models: Models) -> None:
        self.port = port
        self.models = models

    def request(
        self, method: str, path: str, json: Any = None, content: Any = None, headers: Any = None
    ) -> Response:
        """The response to a request whose body is a value as JSON, or bytes, or parts of a body."""
        body = content if json is None else _text(json)
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers or {})
            found = connection.getresponse()
            lower = {name.lower(): value for name, value in found.getheaders()}
            return Response(found.status, lower, found.read())

    def get(self, path: str, headers: Any = None) -> Response:
        """The response to GET."""
        return self.request("GET", path, headers=headers)

    def post(self, path: str, json: Any = None, content: Any = None) -> Response:
        """The response to POST."""
        return self.request("POST", path, json, content)


@contextlib.contextmanager
def client(folder: pathlib.Path, *, count: int = 1, **options: Any) -> Iterator[Client]:
    """A client of a server of the models in a folder; options are those of limits, and the token."""
    token, hosts = options.pop("token", ""), options.pop("hosts", frozenset())
    models = Models(str(folder), count)
    models.refresh()
    application = Server(models, Limits(**options), token, hosts).application()
    server = uvicorn.Server(uvicorn.Config(application, log_config=None, access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Client(listening.getsockname()[1], models)
        finally:
            server.should_exit = True
            thread.join()


def error(response: Response, status: int) -> str:
    """The message of a response that has to be an error of this status, in the shape of all errors."""
    assert response.status == status, response.content
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body.keys() == {"error"}
    return body["error"]
