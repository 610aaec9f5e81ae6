"""What the figures of a run depend on."""

import datetime
import importlib.metadata
import os
import pathlib
import platform

PEERS = [
    "captum",
    "shap",
    "quantus",
    "shapiq",
    "torch",
    "onnxruntime",
    "xgboost-cpu",
    "lightgbm",
    "faiss-cpu",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "numpy",
]


def machine():
    """What the figures depend on: processor, cores, vector instructions, versions, and the day."""
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
    }


def processor():
    described = pathlib.Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.machine()
