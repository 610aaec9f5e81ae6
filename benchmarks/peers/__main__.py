"""Assay beside its peers in one run, each at its best settings on the same machine, threads, models, rows and budgets:
`make bench-peers`. Peers: Captum, SHAP, Quantus, shapiq, PyTorch, onnxruntime, XGBoost, LightGBM, Woodelf, faiss,
scikit-learn, pandas, pyarrow.

A full run takes its time and writes docs/benchmarks.md, docs/ground-truth.md and README's table from what it found;
`--quick` ends inside three minutes, with smaller workloads, and writes no page. Both write build/bench/peers.json.
"""

import argparse
import json
import os
import pathlib
import tempfile
import time
import traceback

import pages
from harness import ROOT, Row, Run, Unavailable, on_threads

# Modules of workloads, in the order of the page; imported when they run, since their libraries are large.
MODULES = [
    "engine",
    "explanations",
    "criteria",
    "aggregators",
    "trees",
    "one_row",
    "inspection",
    "neighbours",
    "reading",
    "accuracy",
    "ground_truth",
    "growth",
    "limit",
    "end_to_end",
    "published",
    "published_errors",
]
OUT = ROOT / "build" / "bench"


def run_workload(workload, quick, kept, memory):
    """The facts of one workload: its rows, its tables, and why it has none."""
    found = {"name": workload.name, "title": workload.title, "text": workload.text, "rows": [], "tables": []}
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=memory) as folder, on_threads(workload.threads):
        try:
            for each in workload.run(Run(quick, pathlib.Path(folder), kept)):
                if isinstance(each, Row):
                    found["rows"].append(each.facts())
                else:
                    found["tables"].append(vars(each))
        except Unavailable as reason:
            found["left_out"] = str(reason)
            print(f"{workload.name} left out: {reason}")
    found["seconds"] = time.perf_counter() - begin
    return found


def with_texts_of_today(results):
    """What was measured, under the words that the modules have now."""
    found = {workload["name"]: workload for workload in results["workloads"]}
    for name in MODULES:
        for workload in __import__(name).WORKLOADS:
            if workload.name in found:
                found[workload.name] |= {"title": workload.title, "text": workload.text}
    return results


def main():
    parser = argparse.ArgumentParser(description="Measure Assay beside its peers.")
    parser.add_argument("--quick", action="store_true", help="smaller workloads, inside three minutes, no pages")
    parser.add_argument(
        "--only", default="", help="workloads whose name has this in it; the others keep what they have"
    )
    parser.add_argument(
        "--pages", action="store_true", help="write the pages from the last full run and measure nothing"
    )
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    file = OUT / ("quick.json" if arguments.quick else "full.json")
    if arguments.pages:
        pages.write(with_texts_of_today(json.loads(file.read_text())))
        return
    # A part of a run is put into the last whole one, which is then no longer one run, and says so.
    before = json.loads(file.read_text()) if arguments.only and file.exists() else {"workloads": []}
    results = {workload["name"]: workload for workload in before["workloads"]}
    order, failed = [], []
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=memory) as kept:
        for name in MODULES:
            module = __import__(name)
            for workload in module.WORKLOADS:
                order.append(workload.name)
                if arguments.only not in workload.name:
                    continue
                try:
                    results[workload.name] = run_workload(workload, arguments.quick, pathlib.Path(kept), memory)
                except Exception:
                    traceback.print_exc()
                    failed.append(workload.name)
                    continue
                pages.print_workload(results[workload.name])
    if arguments.only and not any(arguments.only in name for name in order):
        raise SystemExit(f"--only {arguments.only}: no workload has this in its name; there are {', '.join(order)}")
    whole = {
        "quick": arguments.quick,
        "one_run": not arguments.only,
        "seconds": time.perf_counter() - begin,
        "machine": pages.machine(),
        "workloads": [results[name] for name in order if name in results],
    }
    file.write_text(json.dumps(whole, indent=1) + "\n")
    rows = [row for workload in whole["workloads"] for row in workload["rows"]]
    (OUT / "peers.json").write_text(json.dumps(rows, indent=1) + "\n")
    missed = [f"{row['workload']} beside {row['peer']}" for row in rows if row["holds"] is False]
    print(f"\n{len(rows)} comparisons in {whole['seconds']:.0f} s; bars missed: {len(missed)}")
    print(*missed, sep="\n")
    left_out = [workload["name"] for workload in whole["workloads"] if workload.get("left_out")]
    if not arguments.quick and not arguments.only and not failed:
        if left_out:
            print(f"The pages stay as they are: {', '.join(left_out)} could not run.")
        else:
            pages.write(whole)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
