"""How near a study's estimate of its time is, and whether it ends in the time it is given: part of `make bench`;
`--quick` for shorter times, `--time 30s` for another one, names of models to run only those.

Six kinds of model: a network, a CNN (MNIST, where its files are in $ASSAY_DATA), a booster, an ONNX pipeline, an
estimator of scikit-learn with 20 columns, and a function that takes 1 ms for a row. Each is studied with the default
arguments. "estimate" is what the plan says, "actual" what the run took (run.json), "all" what the whole call took, with
reading, training and planning. The bars: estimate and actual within a factor of 2, all within 1.5 times the limit.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import assay

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
PROGRAM = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))


def seconds_of_table(text):
    """The sum of the entries' seconds in the table of a plan: finer than the line in whole seconds."""
    rows = text.partition("\n\n")[2].splitlines()[1:]
    return sum(float(row.split()[-1].replace(",", "")) for row in rows)


def by_command(words, limit):
    """Estimate, actual and all of `assay study`; the estimate is that of a plan before it."""
    planned = subprocess.run([PROGRAM, "study", *words, f"--time={limit}", "--plan"], capture_output=True, text=True)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        done = subprocess.run(
            [PROGRAM, "study", *words, f"--time={limit}", f"--out={folder}/study"],
            capture_output=True,
            text=True,
        )
        whole = time.perf_counter() - start
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        run = json.loads(pathlib.Path(folder, "study", "run.json").read_text())
        rows = json.loads(pathlib.Path(folder, "study", "study.json").read_text())["facts"]["rows"]
        return seconds_of_table(planned.stdout), run["seconds"], whole, rows, len(run["entries"])


def by_package(model, rows, pool, labels, limit):
    """The same of assay.study; the estimate is that of a plan before it."""
    estimate = seconds_of_table(assay.study_plan(model, rows, pool=pool, y=labels, time=limit))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        assay.study(model, rows, pool=pool, y=labels, time=limit, out=pathlib.Path(folder, "study"))
        whole = time.perf_counter() - start
        run = json.loads(pathlib.Path(folder, "study", "run.json").read_text())
        studied = json.loads(pathlib.Path(folder, "study", "study.json").read_text())["facts"]["rows"]
        return estimate, run["seconds"], whole, studied, len(run["entries"])


def network(limit):
    return by_command(["german"], limit)


def cnn(limit):
    if not pathlib.Path(os.environ.get("ASSAY_DATA", ""), "mnist").is_dir():
        return None
    return by_command(["mnist"], limit)


def booster(limit):
    folder = FIXTURES / "trees" / "xgboost_binary"
    words = [f"--model={folder / 'model.json'}", f"--data={folder / 'rows.csv'}", f"--pool={folder / 'background.csv'}"]
    return by_command(words, limit)


def pipeline(limit):
    folder = FIXTURES / "models" / "sklearn_mlp_binary"
    draw = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as made:
        loaded = assay.load(folder / "model.onnx")
        names = list(loaded.features)
        for name, count in (("rows", 200), ("pool", 800)):
            values = draw.normal(size=(count, len(names)))
            np.savetxt(f"{made}/{name}.csv", values, delimiter=",", header=",".join(names), comments="", fmt="%.5g")
        words = [f"--model={folder / 'model.onnx'}", f"--data={made}/rows.csv", f"--pool={made}/pool.csv"]
        return by_command(words, limit)


def wrapped(limit):
    from sklearn.ensemble import RandomForestClassifier

    draw = np.random.default_rng(3)
    rows = draw.normal(size=(1500, 20)).astype(np.float32)
    labels = (rows[:, 0] * rows[:, 1] + rows[:, 2] > 0).astype(int)
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0, n_jobs=1).fit(rows[:1000], labels[:1000])
    # As a function: assay.wrap would explain the trees themselves.
    model = assay.wrap(lambda x: forest.predict_proba(x)[:, 1])
    return by_package(model, rows[1000:], rows[:1000], None, limit)


def slow(limit):
    draw = np.random.default_rng(4)
    rows = draw.normal(size=(400, 6)).astype(np.float32)

    def function(x):
        time.sleep(0.001 * len(x))
        return np.tanh(x[:, 0] * x[:, 1]) + x[:, 2]

    return by_package(assay.wrap(function), rows[:200], rows[200:], None, limit)


KINDS = {"network": network, "cnn": cnn, "booster": booster, "pipeline": pipeline, "wrapped": wrapped, "slow": slow}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=[], help=f"of {', '.join(KINDS)}")
    parser.add_argument("--time", default="60", help="seconds that each study may take")
    parser.add_argument("--quick", action="store_true", help="15 seconds each")
    said = parser.parse_args()
    limit = 15.0 if said.quick else float(said.time)
    columns = f"{'rows':>5} {'entries':>7} {'estimate':>9} {'actual':>8} {'ratio':>6} {'all':>7}"
    print(f"{'model':10} {columns}  of {limit:g} s")
    worst = 1.0
    for kind in said.kinds or KINDS:
        found = KINDS[kind](f"{limit:g}s")
        if found is None:
            print(f"{kind:10} no data: set ASSAY_DATA")
            continue
        estimate, actual, whole, rows, entries = found
        ratio = estimate / actual
        worst = max(worst, ratio, 1 / ratio)
        late = " over 1.5 times the limit" if whole > 1.5 * limit else ""
        numbers = f"{rows:5} {entries:7} {estimate:9.2f} {actual:8.2f} {ratio:6.2f} {whole:7.2f}"
        print(f"{kind:10} {numbers}{late}", flush=True)
    print(f"largest factor between estimate and actual: {worst:.2f} (bar: 2)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
