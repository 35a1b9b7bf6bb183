"""Requests and responses over HTTP: predict, classify, regress, status, metadata, limits, errors."""

from __future__ import annotations

import json
import pathlib
import shutil
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from tests.saved_model import network, tables
from tests.serve import models
from tests.serve.models import Client, error

ANSWERS = json.loads((models.RECORDED / "answers.json").read_text())
ITEMS = {"x": tf.io.FixedLenFeature([], tf.float32), "n": tf.io.FixedLenFeature([], tf.int64, 7)}


def _save_examples(folder: pathlib.Path) -> None:
    module = tf.Module()
    spec = tf.TensorSpec([None], tf.string, name="inputs")

    def classify(inputs: Any) -> Any:
        found = tf.io.parse_example(inputs, ITEMS)
        scores = tf.stack([found["x"], tf.cast(found["n"], tf.float32)], 1)
        return {"scores": scores, "classes": tf.as_string(tf.cast(scores, tf.int32))}

    def regress(inputs: Any) -> Any:
        return {"outputs": tf.io.parse_example(inputs, ITEMS)["x"] * 0.5 + 2.0}

    module.c = tf.function(classify, input_signature=[spec])
    module.r = tf.function(regress, input_signature=[spec])
    signatures = {"serving_default": module.c, "regress": module.r}
    tf.saved_model.save(module, str(folder), signatures=signatures)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    found = tmp_path_factory.mktemp("served")
    models.save_scaled(found / "scaled" / "1", 0.5)
    models.save_scaled(found / "scaled" / "2", 2.0)
    _save_examples(found / "examples" / "5")
    models.save(found / "files" / "1", tf.io.read_file, tf.TensorSpec([], tf.string, name="name"))
    models.save(
        found / "fixed" / "1",
        lambda x: tf.debugging.check_numerics(x, "x") + tf.gather([1.0, 2.0], [0, 1]),
        tf.TensorSpec([2], tf.float32, name="x"),
    )
    for name in ("tensorflow", "tensorflow_tables"):
        shutil.copytree(models.RECORDED / "models" / name, found / name / "12")
    return found


@pytest.fixture(scope="module")
def client(folder: pathlib.Path) -> Iterator[Client]:
    with models.client(folder, count=0, rows=100, body_bytes=100_000) as found:
        yield found


def test_predictions_by_row_and_by_column(client: Client) -> None:
    body = {"instances": [1.0, 2.0, 5.0]}
    assert client.post("/v1/models/scaled:predict", json=body).json() == {
        "predictions": [2.0, 4.0, 10.0]
    }
    response = client.post("/v1/models/scaled/versions/1:predict", json={"inputs": {"x": [1, 3]}})
    assert response.json() == {"outputs": [0.5, 1.5]}
    assert response.headers["content-type"] == "application/json"


def test_tensorflows_models_answer_as_tensorflow(client: Client) -> None:
    body = {"signature_name": "predict", "inputs": network.INPUT}
    found = client.post("/v1/models/tensorflow:predict", json=body).json()["outputs"]
    assert found["logits"] == ANSWERS["ours_served"]
    rows = client.post(
        "/v1/models/tensorflow:predict",
        json={"signature_name": "predict", "instances": [{"x": r} for r in network.INPUT]},
    ).json()["predictions"]
    assert [r["logits"] for r in rows] == ANSWERS["ours_served"]
    words = [w.decode() if isinstance(w, bytes) else w for w in tables.WORDS]
    body = {"signature_name": "look", "inputs": {"words": words}}
    found = client.post("/v1/models/tensorflow_tables:predict", json=body).json()
    assert found == {"outputs": ANSWERS["our_tables_served"]}


def test_classifications(client: Client) -> None:
    body = {"context": {"n": 3}, "examples": [{"x": 1.5}, {"x": [2.0]}]}
    found = client.post("/v1/models/examples:classify", json=body).json()
    assert found == {"results": [[["1", 1.5], ["3", 3.0]], [["2", 2.0], ["3", 3.0]]]}
    both = {"context": {"x": 3.0}, "examples": [{"x": 1.5}]}
    assert "in 'context', too" in error(client.post("/v1/models/examples:classify", json=both), 400)


def test_regressions(client: Client) -> None:
    body = {"signature_name": "regress", "examples": [{"x": 1.0}, {"x": 2.0, "n": True}]}
    found = client.post("/v1/models/examples/versions/5:regress", json=body).json()
    assert found == {"results": [2.5, 3.0]}
    body.pop("signature_name")
    assert "no output 'outputs'" in error(
        client.post("/v1/models/examples:regress", json=body), 400
    )


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([], "one or more"),
        ([1], "example 0 must be a JSON object"),
        ([{"x": [1, 2.0]}], "several types: float_list, int64_list"),
        ([{"x": None}], "neither a number nor text"),
        ([{"x": 1 << 63}], "64 bits"),
        ([{"x": 1e39}], "without loss of precision"),
        ([{"x": [[1.0]]}], "neither a number nor text"),
    ],
)
def test_wrong_examples(client: Client, examples: Any, message: str) -> None:
    response = client.post("/v1/models/examples:classify", json={"examples": examples})
    assert message in error(response, 400)


def test_status_and_metadata(client: Client) -> None:
    found = client.get("/v1/models/scaled").json()["model_version_status"]
    fine = {"error_code": "OK", "error_message": ""}
    assert found == [{"version": v, "state": "AVAILABLE", "status": fine} for v in ("2", "1")]
    assert len(client.get("/v1/models/scaled/versions/1").json()["model_version_status"]) == 1
    found = client.get("/v1/models/tensorflow/metadata").json()
    assert found["model_spec"] == {"name": "tensorflow", "signature_name": "", "version": "12"}
    signature = found["metadata"]["signature_def"]["signature_def"]["predict"]
    dim = [{"size": "-1", "name": ""}, {"size": "3", "name": ""}]
    assert signature["method_name"] == "tensorflow/serving/predict"
    assert signature["inputs"]["x"] == {
        "dtype": "DT_FLOAT",
        "tensor_shape": {"dim": dim, "unknown_rank": False},
        "name": "predict_x:0",
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("POST", "/v1/models/half:predict", 404, "Servable not found for request: Latest(half)"),
        ("POST", "/v1/models/scaled/versions/9:predict", 404, "Specific(scaled, 9)"),
        ("GET", "/v1/models/half", 404, "Could not find any versions of model half"),
        ("GET", "/v1/models/scaled/versions/9", 404, "version 9 of model scaled"),
        ("GET", "/v1/models/half/metadata", 404, "Latest(half)"),
        ("GET", "/v1/models", 400, "Malformed request: GET /v1/models"),
        ("GET", "/v1/models/scaled:predict", 400, "Malformed request"),
        ("POST", "/v1/models/scaled:explain", 400, "Malformed request: POST"),
        ("POST", "/v1/models/scaled/versions/latest:predict", 400, "Malformed request"),
        ("POST", "/v1/models/..%2Fscaled:predict", 400, "Malformed request"),
        ("DELETE", "/v1/models/scaled", 400, "Malformed request: DELETE"),
        ("GET", "/", 404, "Not found"),
        ("GET", "/scaled/1/saved_model.pb", 404, "Not found"),
    ],
)
def test_wrong_paths(client: Client, method: str, path: str, status: int, message: str) -> None:
    response = client.request(method, path, json={"instances": [1.0]})
    assert message in error(response, status)


def test_wrong_requests(client: Client) -> None:
    def refused(model: str, body: Any, status: int = 400) -> str:
        return error(client.post(f"/v1/models/{model}:predict", json=body), status)

    body = {"signature_name": "other", "instances": [1.0]}
    assert 'name: "other" not found in signature def' in refused("scaled", body)
    assert "shape [1, 1], signature 'serving_default' takes [?]" in refused(
        "scaled", {"instances": [[1.0]]}
    )
    assert "at most 100" in refused("scaled", {"instances": [1.0] * 101})
    assert "NaN" in refused("fixed", {"inputs": [1.0, float("nan")]})
    assert "takes [2]" in refused("fixed", {"inputs": [1.0]})
    # A graph that reads files would read those that the request names.
    assert "ReadFile" in refused("files", {"inputs": "/etc/hostname"}, 501)


def test_bodies_have_a_limit(client: Client) -> None:
    url = "/v1/models/scaled:predict"
    assert "100000 bytes" in error(client.post(url, content=b" " * 100_001), 413)
    parts = iter([b" " * 60_000, b" " * 60_000])  # without a length
    assert "100000 bytes" in error(client.post(url, content=parts), 413)
    large = json.dumps({"instances": [0.123456789012345] * 90}).encode() + b" " * 80_000
    assert len(client.post(url, content=large).json()["predictions"]) == 90


def test_requests_are_counted(client: Client) -> None:
    client.post("/v1/models/scaled:predict", json={"instances": [1.0, 2.0]})
    client.post("/v1/models/nothing:predict", json={"instances": [1.0]})
    response = client.get("/monitoring/prometheus/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = dict(
        line.rsplit(" ", 1) for line in response.content.decode().splitlines() if line[0] != "#"
    )
    key = ':tensorflow:serving:request_count{model_name="%s",entrypoint="predict",status="%d"}'
    assert int(lines[key % ("scaled", 200)]) >= 1
    assert int(lines[key % ("", 404)]) >= 1  # names that are not served make no series
    bucket = ':tensorflow:serving:request_latency_bucket{model_name="scaled",entrypoint="predict",le="+Inf"}'
    count = ':tensorflow:serving:request_latency_count{model_name="scaled",entrypoint="predict"}'
    assert lines[bucket] == lines[count]
    assert lines['intaglio_serve_available_versions{model_name="scaled"}'] == "2"
    assert lines["intaglio_serve_pending_requests"] == "0"


def test_late_and_too_many_requests(folder: pathlib.Path) -> None:
    body = {"instances": [1.0]}
    released = threading.Event()
    with models.client(folder, seconds=1.0) as client:
        signature = client.models.servable("scaled", None)[1].signatures["serving_default"]
        object.__setattr__(signature, "run", lambda arrays: released.wait(models.SECONDS))
        try:
            message = error(client.post("/v1/models/scaled:predict", json=body), 504)
        finally:
            released.set()
        assert "longer than 1 s" in message
    with models.client(folder, pending=0) as client:
        assert "try again" in error(client.post("/v1/models/scaled:predict", json=body), 503)


def test_a_body_that_never_arrives_whole(folder: pathlib.Path) -> None:
    longer = {"content-length": "100"}
    with models.client(folder, seconds=0.2) as client:
        path = "/v1/models/scaled:predict"
        message = error(client.request("POST", path, content=b"{", headers=longer), 408)
    assert "the body of the request took longer than 0.2 s" in message


def test_tokens(folder: pathlib.Path) -> None:
    token = "0123456789abcdef"
    with models.client(folder, token=token) as client:
        for path in ("/v1/models/scaled", "/monitoring/prometheus/metrics", "/"):
            response = client.get(path)
            assert "Bearer TOKEN" in error(response, 401)
            assert response.headers["www-authenticate"] == "Bearer"
        for wrong in ("Bearer 0123456789abcdeg", token, "Basic 0123456789abcdef"):
            error(client.get("/v1/models/scaled", headers={"authorization": wrong}), 401)
        headers = {"authorization": f"Bearer {token}"}
        assert client.get("/v1/models/scaled", headers=headers).status == 200


def test_other_hosts_are_refused(folder: pathlib.Path) -> None:
    with models.client(folder, hosts=frozenset({"localhost"})) as client:
        for host, status in (("localhost", 200), ("LOCALHOST:80", 200), ("example.com:80", 403)):
            response = client.get("/v1/models/scaled", headers={"host": host})
            assert response.status == status, host


def test_what_a_model_fails_with_is_not_shown(folder: pathlib.Path, caplog: Any) -> None:
    with models.client(folder) as client:
        servable = client.models.servable("scaled", None)[1]
        signature = servable.signatures["serving_default"]

        def run(arrays: Any) -> dict[str, np.ndarray]:
            raise RuntimeError("a path of the server")

        object.__setattr__(signature, "run", run)
        response = client.post("/v1/models/scaled:predict", json={"instances": [1.0]})
        assert "a path" not in error(response, 500)
    assert "a path of the server" in caplog.text
