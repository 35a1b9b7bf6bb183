"""The HTTP interface: paths, limits, tokens and errors, as an ASGI application of Starlette.

Follows https://www.tensorflow.org/tfx/serving/api_rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import hmac
import json
import logging
import re
import time
from collections.abc import AsyncGenerator
from typing import Any

import numpy as np
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from intaglio.base import errors
from intaglio.saved_model import names
from intaglio.serve import examples, json_tensors, statuses
from intaglio.serve import metrics as metrics_module
from intaglio.serve.batching import Encode, Scheduler
from intaglio.serve.metrics import Metrics
from intaglio.serve.servables import PREDICT, Arrays, Signature
from intaglio.serve.statuses import HTTPError, invalid
from intaglio.serve.versions import Models, status_json

LOGGER = logging.getLogger("intaglio.serve")
JSON = "application/json"
# Bodies of more bytes are read as JSON on a thread, so that other requests do not wait for it.
LARGE_BODY = 1 << 16
CLASSIFY, REGRESS = "tensorflow/serving/classify", "tensorflow/serving/regress"
METHODS = {"classify": CLASSIFY, "regress": REGRESS}
_CALL = re.compile(
    r"/v1/models/(?P<model>[^/:]+)(?:/versions/(?P<version>\d{1,18}))?:(?P<verb>classify|regress|predict)",
    re.IGNORECASE,
)
_LOOK = re.compile(
    r"/v1/models/(?P<model>[^/:]+)(?:/versions/(?P<version>\d{1,18}))?(?P<metadata>/metadata)?",
    re.IGNORECASE,
)


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a request may take, and how requests are joined."""

    body_bytes: int = 64 << 20
    rows: int = 4096
    seconds: float = 30.0
    pending: int = 1024
    threads: int = 4
    # Rows of a batch of several requests, 0: none is joined; and how long the first one waits.
    batch_rows: int = 0
    batch_seconds: float = 0.002


class Server:
    """What handles the requests for some models."""

    def __init__(
        self,
        models: Models,
        limits: Limits | None = None,
        token: str = "",
        hosts: frozenset[str] = frozenset(),
    ) -> None:
        """`token`: what requests have to carry; `hosts`: names that they may use, if there are any."""
        self.models = models
        self.limits = limits or Limits()
        self.metrics = Metrics()
        self.scheduler = Scheduler(
            self.limits.threads, self.limits.batch_rows, self.limits.batch_seconds
        )
        self._token = f"Bearer {token}".encode() if token else b""
        self._hosts = hosts

    def application(self) -> Router:
        """The ASGI application; when it is shut down, the scheduler and the models are closed."""

        @contextlib.asynccontextmanager
        async def lifespan(application: Any) -> AsyncGenerator[None]:
            yield
            self.models.stop()
            self.scheduler.close()

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            response = await self.handle(Request(scope, receive))
            await response(scope, receive, send)

        # Without Starlette's middleware: `handle` answers every path, and every error.
        return Router(default=respond, redirect_slashes=False, lifespan=lifespan)

    async def handle(self, request: Request) -> Response:
        """The response to any request."""
        start = time.perf_counter()
        path = request.scope["path"]
        found = _CALL.fullmatch(path) if request.method == "POST" else None
        verb = found["verb"].lower() if found else ""
        try:
            self._check_access(request)
            if found:
                response = Response(await self._call(request, found), media_type=JSON)
            elif path == metrics_module.PATH and request.method == "GET":
                response = self._metrics()
            else:
                response = Response(self._look(request.method, path), media_type=JSON)
        except ClientDisconnect:
            response = Response(status_code=statuses.HTTP_STATUS[errors.CANCELLED])
        except Exception as e:
            response = self._failed(e, path)
        if found:
            served = found["model"] if self.models.model(found["model"]) else ""
            self.metrics.request(served, verb, response.status_code, time.perf_counter() - start)
        return response

    def _failed(self, error: Exception, path: str) -> Response:
        status, message = statuses.of(error)
        if status == 500:
            LOGGER.error("%s failed", path, exc_info=error)
        headers = error.headers if isinstance(error, HTTPError) else None
        return Response(statuses.body(message), status, headers, JSON)

    def _check_access(self, request: Request) -> None:
        """Raises HTTPError for a request without the token, or by a name that is not the server's.

        A page that a browser shows may send requests to 127.0.0.1 by a name of its own choice.
        """
        if self._hosts:
            host = request.headers.get("host", "")
            if (
                host.rpartition(":")[0].lower() not in self._hosts
                and host.lower() not in self._hosts
            ):
                raise HTTPError(403, f"requests for the host {host!r} are not served")
        if self._token:
            sent = request.headers.get("authorization", "").encode()
            if not hmac.compare_digest(sent, self._token):
                raise HTTPError(
                    401,
                    "the request needs the header 'Authorization: Bearer TOKEN'",
                    {"www-authenticate": "Bearer"},
                )

    # -- what there is -----------------------------------------------------------------------------

    def _metrics(self) -> Response:
        counts: dict[str, int] = {}
        for name in self.models.names():
            model = self.models.model(name)
            counts[name] = len(model.serving) if model else 0
        text = self.metrics.text(counts)
        return Response(text, media_type=metrics_module.CONTENT_TYPE)

    def _look(self, method: str, path: str) -> bytes:
        """Status and metadata of a model."""
        if not path.lower().startswith("/v1/"):
            raise errors.NotFoundError(None, None, f"Not found: {path}")
        found = _LOOK.fullmatch(path) if method == "GET" else None
        if found is None:
            raise invalid(f"Malformed request: {method} {path}")
        name, version = found["model"], int(found["version"]) if found["version"] else None
        if found["metadata"]:
            number, servable = self.models.servable(name, version)
            spec = {"name": name, "signature_name": "", "version": str(number)}
            signature_def = {"signature_def": dict(servable.metadata)}
            body: Any = {"model_spec": spec, "metadata": {"signature_def": signature_def}}
        else:
            body = self._status(name, version)
        return json.dumps(body, indent=1).encode()

    def _status(self, name: str, version: int | None) -> dict[str, Any]:
        model = self.models.model(name)
        if model is None:
            raise errors.NotFoundError(None, None, f"Could not find any versions of model {name}")
        try:
            return status_json(model, version)
        except KeyError:
            raise errors.NotFoundError(
                None, None, f"Could not find version {version} of model {name}"
            ) from None

    # -- calls -------------------------------------------------------------------------------------

    async def _call(self, request: Request, found: re.Match[str]) -> bytes:
        if self.metrics.pending >= self.limits.pending:
            raise errors.UnavailableError(
                None, None, f"{self.limits.pending} requests are pending; try again later."
            )
        self.metrics.pending += 1
        read = False
        try:
            async with asyncio.timeout(self.limits.seconds):
                body = await self._body(request)
                read = True
                return await self._answer(body, found)
        except TimeoutError:
            late = f"the request took longer than {self.limits.seconds:g} s"
            if not read:
                raise HTTPError(408, f"the body of {late}") from None
            raise errors.DeadlineExceededError(None, None, late) from None
        finally:
            self.metrics.pending -= 1

    async def _body(self, request: Request) -> bytes:
        """The body. Raises HTTPError if it is too large, before all of it has arrived."""
        limit = self.limits.body_bytes
        length = request.headers.get("content-length", "")
        too_large = HTTPError(413, f"the body has more than {limit} bytes")
        if length.isdigit() and int(length) > limit:
            raise too_large
        parts: list[bytes] = []
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise too_large
            parts.append(part)
        return b"".join(parts)

    async def _answer(self, body: bytes, found: re.Match[str]) -> bytes:
        def prepared() -> tuple[Signature, Arrays, Encode]:
            return self._prepared(body, found)

        large = len(body) > LARGE_BODY
        signature, arrays, encode = (
            await self.scheduler.on_thread(prepared) if large else prepared()
        )
        name = found["model"]
        return await self.scheduler.run(
            signature, arrays, encode, lambda rows: self.metrics.batch(name, rows)
        )

    def _prepared(self, body: bytes, found: re.Match[str]) -> tuple[Signature, Arrays, Encode]:
        """The signature that a request is for, its arrays, and what encodes the results."""
        version = int(found["version"]) if found["version"] else None
        _, servable = self.models.servable(found["model"], version)
        request = json_tensors.parsed(body)
        signature = servable.signature(
            json_tensors.signature_name(request, names.DEFAULT_SIGNATURE)
        )
        verb = found["verb"].lower()
        if verb in METHODS:
            return self._prepared_examples(verb, request, signature)
        arrays, by_row = json_tensors.inputs(
            request, {name: info.dtype for name, info in signature.inputs.items()}
        )
        self._check_rows(max([len(a) for a in arrays.values() if a.ndim], default=0))
        signature.check(arrays)
        return signature, arrays, lambda outputs: json_tensors.response(outputs, by_row)

    def _prepared_examples(
        self, verb: str, request: dict[str, Any], signature: Signature
    ) -> tuple[Signature, Arrays, Encode]:
        # `tf.saved_model.save` calls every signature one for predict; the names of outputs decide then.
        if signature.method not in (METHODS[verb], PREDICT, ""):
            raise invalid(
                f"Expected {verb} signature method_name to be {METHODS[verb]}. Was: {signature.method}"
            )
        if {*signature.inputs} != {examples.INPUT}:
            raise invalid(
                f"Expected one input {examples.INPUT!r} of serialized Examples, signature "
                f"{signature.name!r} has {', '.join(sorted(signature.inputs)) or 'none'}"
            )
        found: np.ndarray = examples.serialized(request)
        self._check_rows(len(found))
        arrays = {examples.INPUT: found}
        signature.check(arrays)
        encode = examples.classifications if verb == "classify" else examples.regressions
        return signature, arrays, lambda outputs: encode(outputs, len(found))

    def _check_rows(self, rows: int) -> None:
        if rows > self.limits.rows:
            raise invalid(f"the request has {rows} rows, at most {self.limits.rows} are allowed")
