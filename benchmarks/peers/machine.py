"""What the figures of a run depend on."""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import sys

PEERS = [
    "captum",
    "shap",
    "quantus",
    "shapiq",
    "torch",
    "onnxruntime",
    "xgboost-cpu",
    "lightgbm",
    "woodelf-explainer",
    "faiss-cpu",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "numpy",
]


def machine():
    """What the figures depend on: processor, cores, vector instructions, versions and their list, and the day."""
    import assay

    versions = {"Python": platform.python_version()}
    for name in PEERS:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "vector_target": assay._core.vector_target,
        "date": datetime.date.today().isoformat(),
        "assay": assay.__version__,
        "versions": versions,
        "pins": pins(),
    }


def pins(environment=sys.prefix):
    """The lists of versions that tools/make-venv installed into an environment; none where it was made by hand."""
    mark = ".installed-"
    found = sorted(pathlib.Path(environment).glob(f"{mark}*.txt"))
    return [f"tools/requirements/{file.name.removeprefix(mark)}" for file in found]


def processor():
    described = pathlib.Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.machine()
