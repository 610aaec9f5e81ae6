"""Runs the program in a temporary folder: members go in as files, results come out as JSON."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import subprocess
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Program:
    def __init__(self, folder: str | os.PathLike[str]):
        self._path = os.path.abspath(os.environ.get("ASSAY_PROGRAM", ROOT / "build" / "assay"))
        self.folder = pathlib.Path(folder)

    def run(self, *arguments: str) -> str:
        done = subprocess.run([self._path, *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"assay {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def json(self, *arguments: str) -> dict:
        return json.loads(self.run("--quiet", *arguments, "--json"))

    def names(self) -> list[str]:
        """Of all aggregators."""
        return [each["name"] for each in self.json("list", "aggregators")["aggregators"]]

    def write(self, name: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
        """A table of text in the folder."""
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])
        return name

    def aggregates(self, members: Sequence[Sequence[float]], *aggregators: str) -> list[list[float]]:
        """What each aggregator makes of members of one row."""
        header = [f"phi_{k + 1}" for k in range(len(members[0]))]
        files = [self.write(f"g{j + 1}.csv", header, [member]) for j, member in enumerate(members)]
        made = self.json("aggregate", "--members", ",".join(files), "--aggregator", ",".join(aggregators))
        return [result["explanations"]["rows"][0]["values"] for result in made["results"]]
