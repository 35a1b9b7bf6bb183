"""A browser without a window, driven by the DevTools protocol over two pipes.

https://chromedevtools.github.io/devtools-protocol/: messages are JSON, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 120.0


def executable() -> str | None:
    """The path of an installed browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """A page of a browser."""

    def __init__(self, process: subprocess.Popen[bytes], reading: int, writing: int) -> None:
        self._process, self._reading, self._writing = process, reading, writing
        self._last = 0
        self._read = b""
        self._session: str | None = None

    def open(self, url: str) -> None:
        """Shows an address, and waits until it is loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of a command. Raises RuntimeError for an error, TimeoutError without an answer."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _message(self) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._reading], [], [], deadline - time.monotonic())
            if not ready:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._reading, 1 << 16)
            if not part:
                raise RuntimeError(f"the browser has ended with {self._process.wait()}")
            self._read += part
        text, _, self._read = self._read.partition(b"\0")
        return json.loads(text)

    def value(self, expression: str) -> Any:
        """The value of an expression of JavaScript. Raises RuntimeError for what it throws."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(str(found["exceptionDetails"]))
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Waits until an expression is true. Raises TimeoutError."""
        deadline = time.monotonic() + SECONDS
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def drag(self, points: Sequence[tuple[float, float]]) -> None:
        """Moves the mouse along points of the window with its button pressed."""
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        kinds = ["mousePressed", *["mouseMoved"] * (len(points) - 1)]
        for kind, (x, y) in zip(kinds, points, strict=True):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)
        x, y = points[-1]
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **button)

    def screenshot(self) -> bytes:
        """What the window shows, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextlib.contextmanager
def page(path: str, folder: pathlib.Path) -> Iterator[Page]:
    """A page of a browser of its own, which is at a path and keeps its files in a folder."""
    commands_read, commands = os.pipe()
    answers, answers_written = os.pipe()
    # The browser reads commands from descriptor 3 and writes answers to 4.
    script = f'exec "$@" 3<&{commands_read} 4>&{answers_written}'
    options = [
        *("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
        *("--disable-dev-shm-usage", f"--user-data-dir={folder / 'browser'}"),
    ]
    process = subprocess.Popen(
        ["bash", "-c", script, "browser", path, *options],
        pass_fds=(commands_read, answers_written),
        stderr=subprocess.DEVNULL,
    )
    os.close(commands_read)
    os.close(answers_written)
    try:
        yield Page(process, answers, commands)
    finally:
        process.kill()
        process.wait()
        os.close(commands)
        os.close(answers)
