"""Tries an installed Assay: `python smoke.py`, outside of the checkout. Says what it did, or fails."""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import assay


def command(*arguments: str, folder: str) -> str:
    """What the `assay` command of this environment prints."""
    program = pathlib.Path(sys.executable).with_name("assay")
    return subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


def main() -> None:
    home = pathlib.Path(assay.__file__).parent
    assert home.is_relative_to(sys.prefix), f"expected assay from {sys.prefix}, found {home}"
    iris = assay.dataset("iris")
    model = assay.train(iris, seed=0)
    explanations = assay.explain(model, iris, "exact_shapley", pool=iris)
    assert explanations.values.shape == (150, 4), explanations.values.shape
    assert np.isfinite(explanations.values).all()
    faithfulness = assay.evaluate(explanations, "faithfulness")
    print(f"assay {assay.__version__}: explained {len(explanations)} rows of iris; {', '.join(faithfulness)} measured")
    with tempfile.TemporaryDirectory() as folder:
        version = command("--version", folder=folder).strip()
        assert version == f"assay {assay.__version__}", version
        assert (
            command("--version", folder=folder)
            == subprocess.run(
                [sys.executable, "-m", "assay", "--version"], check=True, capture_output=True, text=True, cwd=folder
            ).stdout
        )
        assert "Verdict" in command("study", "iris", "--out", "study", folder=folder)
        size = os.path.getsize(pathlib.Path(folder) / "study" / "report.html")
        assert size > 1_000_000, f"expected a report with plotly.js inside, found one of {size} bytes"
    print(f"{version}: the command studied iris and wrote a report with plots")


main()
