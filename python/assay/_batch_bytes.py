"""The bytes of a job: what its explainers' files hold, each thing once, and a hash that does not change by process."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

from ._explainer import Explainer, _unpickled

Parts = dict[str, bytes]


def parts_of(explainers: Sequence[Explainer]) -> tuple[Parts, ...]:
    """What the file of each holds, by name. What is the same in several (model, pool) is one object, which a pickle
    writes once."""
    known: dict[bytes, bytes] = {}
    made = []
    for explainer in explainers:
        with zipfile.ZipFile(io.BytesIO(explainer._bytes())) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        made.append({name: known.setdefault(content, content) for name, content in contents.items()})
    return tuple(made)


def explainers_of(parts: Sequence[Parts]) -> tuple[Explainer, ...]:
    """The explainers of these files. They share one model, as aggregates of their explanations need it."""
    first = _unpickled(_archive(parts[0]))
    return (first, *(_unpickled(_archive(each), first) for each in parts[1:]))


def hash_of(parts: Sequence[Parts], rest: Sequence[Any]) -> str:
    """SHA-256 of the files' contents and of the other fields of a job.

    Not that of a pickle, whose bytes depend on which equal texts happen to be one object."""
    contents = [{name: hashlib.sha256(content).hexdigest() for name, content in each.items()} for each in parts]
    return hashlib.sha256(json.dumps([contents, rest], sort_keys=True).encode()).hexdigest()


def _archive(parts: Parts) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # with the date of 1980, as the engine writes it
    return made.getvalue()
