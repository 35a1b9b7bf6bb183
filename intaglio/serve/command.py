"""`intaglio serve`: the models of a folder, served until SIGINT or SIGTERM.

Requests that have arrived by then are answered before the process ends.
"""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Sequence

import uvicorn

from intaglio.serve.application import Limits, Server
from intaglio.serve.versions import Models

TOKEN_VARIABLE = "INTAGLIO_SERVE_TOKEN"
MIN_TOKEN_LENGTH = 16
# Connections that may wait to be accepted.
BACKLOG = 2048
# By which names a server is asked that listens to this machine alone.
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


def _parser() -> argparse.ArgumentParser:
    default = Limits()
    parser = argparse.ArgumentParser(
        prog="intaglio serve",
        description="Serves the SavedModels of a folder, FOLDER/NAME/VERSION, over HTTP with the REST "
        "interface of TensorFlow Serving. New versions are served when they appear.",
    )
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=8501, help="0: one that is free")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at")
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help=f"a file with the token that requests must carry; or {TOKEN_VARIABLE} in the environment. "
        "Required unless the host is of this machine alone",
    )
    parser.add_argument("--certificate", metavar="FILE", help="for HTTPS, in the form PEM")
    parser.add_argument("--key", metavar="FILE", help="the certificate's key")
    parser.add_argument(
        "--versions", type=int, default=1, help="how many of the latest versions serve; 0: all"
    )
    parser.add_argument(
        "--poll-seconds", type=float, default=1.0, help="how often the folder is looked at"
    )
    limits = parser.add_argument_group("limits")
    limits.add_argument("--max-body-bytes", type=int, default=default.body_bytes)
    limits.add_argument("--max-rows", type=int, default=default.rows, help="of a request")
    limits.add_argument("--timeout-seconds", type=float, default=default.seconds)
    limits.add_argument("--max-pending", type=int, default=default.pending, help="requests")
    limits.add_argument("--threads", type=int, default=default.threads, help="that run models")
    batching = parser.add_argument_group("requests of several rows joined to one call")
    batching.add_argument(
        "--batch-rows", type=int, default=0, help="up to so many; 0: no requests are joined"
    )
    batching.add_argument(
        "--batch-timeout-ms",
        type=float,
        default=default.batch_seconds * 1e3,
        help="the longest wait",
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        token = _token(options.token_file)
        _check(options, token)
        models = Models(options.folder, options.versions)
        listening = _listening(options.host, options.port)
    except (ValueError, OSError) as e:
        parser.error(str(e))
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    models.refresh()
    models.start(options.poll_seconds)
    limits = Limits(
        options.max_body_bytes,
        options.max_rows,
        options.timeout_seconds,
        options.max_pending,
        options.threads,
        options.batch_rows,
        options.batch_timeout_ms / 1e3,
    )
    hosts = LOCAL_HOSTS if _is_local(options.host) and not token else frozenset[str]()
    server = Server(models, limits, token, hosts)
    config = uvicorn.Config(
        server.application(),
        log_level="warning",
        access_log=False,
        backlog=BACKLOG,
        server_header=False,
        timeout_graceful_shutdown=int(options.timeout_seconds) + 1,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    host, port = listening.getsockname()[:2]
    scheme = "https" if options.certificate else "http"
    shown = f"[{host}]" if ":" in host else host
    print(f"serving {options.folder} at {scheme}://{shown}:{port}/v1/models", flush=True)
    with contextlib.suppress(KeyboardInterrupt):  # which ends it after the requests, too
        uvicorn.Server(config).run(sockets=[listening])
    return 0


def _check(options: argparse.Namespace, token: str) -> None:
    """Raises ValueError for options that do not go together."""
    if not token and not _is_local(options.host):
        raise ValueError(
            f"--host {options.host} can be reached from other machines: give --token-file FILE, or "
            f"{TOKEN_VARIABLE} in the environment."
        )
    if bool(options.certificate) != bool(options.key):
        raise ValueError("--certificate and --key go together")
    for name in ("max_body_bytes", "max_rows", "timeout_seconds", "max_pending", "threads"):
        if getattr(options, name) <= 0:
            raise ValueError(f"--{name.replace('_', '-')} must be greater than 0")
    for name in ("versions", "batch_rows", "batch_timeout_ms", "poll_seconds"):
        if getattr(options, name) < 0:
            raise ValueError(f"--{name.replace('_', '-')} must not be negative")


def _token(path: str | None) -> str:
    """The token of the options, "" without one. Raises ValueError for a short one, OSError."""
    if path:
        with open(path, encoding="utf-8") as file:
            found = file.read().strip()
    else:
        found = os.environ.get(TOKEN_VARIABLE, "")
        if not found:
            return ""
    if len(found) < MIN_TOKEN_LENGTH or not found.isascii() or not found.isprintable():
        raise ValueError(
            f"a token has {MIN_TOKEN_LENGTH} or more characters of printable ASCII: write one with "
            "`python -c 'import secrets; print(secrets.token_urlsafe())'`"
        )
    return found


def _is_local(host: str) -> bool:
    """Whether an address is one of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens at an address. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)  # requests wait from now on until the models are loaded
    except BaseException:
        listening.close()
        raise
    return listening
