"""All that decides the results of a study, as words and hashes. A resumed study must have the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from . import _core
from ._models import GraphModel, Model
from ._run import spec_text
from ._subject import RowArguments
from ._tables import Table, core_table, kind_of

# How many rows are predicted to identify a model that is not a file.
FINGERPRINT_ROWS = 64

DEFAULTS = {
    "sample": "auto",
    "pool_sample": "auto",
    "time": "",
    "margin": 0.05,
    "tie": 0.002,
    "cells": True,
    "retrain": False,
    "curves": True,
    "variations": True,
}


def setting_words(said: RowArguments, chosen: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    """Each argument that is not its default as "name=value", tables by their hash. The rows are among the inputs."""
    words = []
    for name in ("methods", "criteria", "aggregators"):
        if chosen[name]:
            words.append(f"{name}={','.join(spec_text(spec) for spec in chosen[name])}")
    if chosen["no_aggregates"]:
        words.append("aggregators=none")
    if chosen["members"]:
        words.append(f"members={','.join(chosen['members'])}")
    for name in ("baseline", "background", "target", "value", "groups", "ids", "classes"):
        value = getattr(said, name)
        if value is not None:
            words.append(f"{name}={_word(value)}")
    plain = {**others, **{name: chosen[name] for name in ("retrain", "curves", "variations")}}
    words += [f"{name}={value}" for name, value in plain.items() if value != DEFAULTS[name]]
    return words


def inputs_of(model: Model, subject: _core.Subject, said: RowArguments) -> list[tuple[str, str, str]]:
    """Role, name and SHA-256 of the model, the rows, the pool, and rows that stand for absent features."""
    inputs = _model_inputs(model, subject)
    for role, table, data, words in (
        ("data (rows)", said.X, subject.data, subject.data_words),
        ("pool (rows)", said.pool, subject.pool, subject.pool_words),
    ):
        if data is not None:
            inputs.append((role, words, _rows_hash(model, table, data)))
    for name in ("baseline", "background"):
        value = getattr(said, name)
        if value is not None and not isinstance(value, str):
            inputs.append((f"{name} (rows)", name, hashlib.sha256(_word(value).encode()).hexdigest()))
    return inputs


def _model_inputs(model: Model, subject: _core.Subject) -> list[tuple[str, str, str]]:
    if isinstance(model, GraphModel) and isinstance(model._content, bytes):
        return [("model (bytes)", model.name, hashlib.sha256(model._content).hexdigest())]
    # What it says about some of the rows: of a file, too, whose weights may lie beside it. Few digits, because the last
    # ones of others may differ from call to call.
    first = _core.Dataset.from_matrix(subject.data.x[:FINGERPRINT_ROWS], subject.data.feature_names, "X")
    outputs = subject.model.predict(first, _core.Run())
    text = json.dumps([[f"{value:.4g}" for value in row] for row in outputs.tolist()])
    inputs = [("model (predictions)", model.name, hashlib.sha256(text.encode()).hexdigest())]
    if isinstance(model, GraphModel) and isinstance(model._content, str):
        with open(model._content, "rb") as file:
            inputs.insert(0, ("model", model.name, _file_hash(file)))
    return inputs


def _file_hash(file: BinaryIO) -> str:
    made = hashlib.sha256()
    while piece := file.read(1 << 20):
        made.update(piece)
    return made.hexdigest()


def _rows_hash(model: Model, table: Any, data: _core.Dataset) -> str:
    """The hash of the rows as the model takes them and their labels; the same as the command line's for data sets."""
    made = hashlib.sha256(np.ascontiguousarray(data.x).tobytes())
    if data.labels is not None:
        made.update(np.ascontiguousarray(data.labels).tobytes())
    if not isinstance(model, GraphModel) and kind_of(table) != "array":
        # Rows of wrapped models hold codes, so their texts are hashed too.
        made.update(json.dumps(core_table(table, "X").levels).encode())
    return made.hexdigest()


def _word(value: Any) -> str:
    """A value on one line: simple ones as they are, others as type and hash."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float, np.generic)):
        return repr(value.item() if isinstance(value, np.generic) else value)
    if isinstance(value, Mapping):
        plain = {
            str(key): [str(each) for each in cell] if isinstance(cell, (list, tuple)) else repr(cell)
            for key, cell in value.items()
        }
        return json.dumps(plain)
    if isinstance(value, (list, tuple)):
        return json.dumps([repr(each) for each in value])
    if isinstance(value, Table) or (np.ndim(value) == 2 and kind_of(value) != "array"):
        table = core_table(value, "table")
        content = json.dumps([table.names, table.levels]).encode() + np.ascontiguousarray(table.values).tobytes()
        return f"table of {table.rows} rows, sha256 {hashlib.sha256(content).hexdigest()}"
    array = np.asarray(value)
    content = array.tobytes() if array.dtype != object else json.dumps([repr(each) for each in array.ravel()]).encode()
    return f"array of shape {array.shape}, sha256 {hashlib.sha256(content).hexdigest()}"
