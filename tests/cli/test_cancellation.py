"""One Ctrl-C ends every command soon, at whatever moment it comes, and leaves nothing half done.

Moments are counted in seconds of the processor, and so is what the program still does after the signal: other work may
share the machine.
"""

import gzip
import lzma
import os
import pathlib
import random
import select
import signal
import subprocess
import time

import numpy as np
import pytest

MOST_SECONDS = 1.0  # of the processor, after the signal
PATIENCE = 30  # seconds of the clock: far more than it takes
TICKS = os.sysconf("SC_CLK_TCK")

MODEL = "--model m.onnx --label y --baseline zero"
WIDE = "--model wide.onnx --data wide.csv --label y --baseline zero"
# Each works for many seconds on one thread.
COMMANDS = {
    "describe": "describe long.csv",
    "describe packed by gzip": "describe zeros.csv.gz",
    "describe packed by xz": "describe zeros.csv.xz",
    "describe array of zeros": "describe zeros.npz",
    "data": "data x.npy --out made.csv",
    "data packed": "data x.npy --out made.npz.xz",
    "data feather": "data long.csv --out made.feather",
    "neighbours": "neighbours x.npy --k 20",
    "train": "train --data wide.csv --label y --training epochs=100000:patience=0 --out made.onnx",
    "predict": "predict --model wide.onnx --data many.npz --out made.csv",
    "explain": f"explain {WIDE} --method kernel_shap:samples=20000 --out made.npz",
    "explain by permutations": f"explain {WIDE} --method shapley_sampling:permutations=20000 --out made.npz",
    "explain along paths": f"explain {WIDE} --method integrated_gradients:steps=20000 --out made.json",
    "evaluate": f"evaluate {WIDE} --explanations wide.npz --criteria faithfulness:samples=100000 --out made.csv",
    "evaluate by ranks": "evaluate --explanations broad.npy --model broad.onnx --data broad.npy --pool broad.npy"
    " --pool-explanations broad.npy --criteria max_sensitivity:distance=kendall:radius=1000",
    "aggregate": "aggregate --members wide.npz,other.npz,third.npz --aggregator minimum_complexity --out made.npz",
    "aggregate orders": "aggregate --members wide.npz,other.npz,third.npz --aggregator kemeny_young --out made.npz",
    "study": "study --data wide.csv --split test --model wide.onnx --label y --out made",
    "study of its own model": "study --data small.csv --split test --label y --out made",
    "verify": "verify study",
    "report": "report study --out made.html",
    "gate": "gate study rules.json",
    "diff": "diff study study",
    "inspect": "inspect wide.onnx",
    "list": "list methods",
    "reproduce": "reproduce all --out made.md",
}
# They end within milliseconds: a signal may come too late.
QUICK = {"report", "gate", "diff", "inspect", "list"}

RULES = '{"schema": "assay.rules/1", "rules": [{"criterion": "complexity", "explanation": "best", "most": 10}]}'


def prepare(program, folder: pathlib.Path):
    """The inputs of the commands."""
    draw = np.random.default_rng(5)

    def run(command):
        subprocess.run([program, "--quiet", *command.split()], cwd=folder, check=True, capture_output=True)

    def table(path, rows, columns):
        values = draw.normal(size=(rows, columns)).astype("f4")
        labels = np.where(values[:, 0] + values[:, 1] * values[:, 2] > 0, "yes", "no")
        header = ",".join([*(f"c{j}" for j in range(columns)), "y"])
        lines = [",".join([*(f"{value:.5g}" for value in row), y]) for row, y in zip(values, labels, strict=True)]
        (folder / path).write_text("\n".join([header, *lines]) + "\n")

    many = draw.normal(size=(150_000, 60)).astype("f4")
    np.save(folder / "x.npy", many)
    np.savez(folder / "many.npz", values=many, features=[f"c{j}" for j in range(60)])
    table("small.csv", 400, 6)
    table("wide.csv", 2000, 60)
    line = ",".join(f"{value:.7g}" for value in draw.normal(size=20)) + "\n"
    with open(folder / "long.csv", "w") as file:
        file.writelines([line * 1000] * 300)
    zeros = b"0,0,0,0\n" * 100_000
    with gzip.open(folder / "zeros.csv.gz", "wb", compresslevel=1) as file:
        for _ in range(200):
            file.write(zeros)
    with lzma.open(folder / "zeros.csv.xz", "wb", preset=0) as file:
        for _ in range(200):
            file.write(zeros)
    np.savez_compressed(folder / "zeros.npz", values=np.zeros((4_000_000, 10), "f4"))
    # So many players that one pair of rankings takes a good part of a millisecond.
    broad = draw.normal(size=(200, 4000)).astype("f4")
    np.save(folder / "broad.npy", broad)
    np.savez(folder / "broad.npz", values=broad[:40, :4000], labels=broad[:40, 0] > 0)
    run("train --data broad.npz --hidden 2 --training epochs=1:patience=0 --out broad.onnx")
    run("train --data wide.csv --label y --hidden 64,64 --training epochs=1 --out wide.onnx")
    for name, method in (("wide", "gradient_x_input"), ("other", "occlusion"), ("third", "smooth_grad")):
        run(f"explain {WIDE} --method {method} --out {name}.npz")
    run("study --data small.csv --split test --label y --out study --sample 30 --no-curves")
    (folder / "rules.json").write_text(RULES)


def used_seconds(process) -> float:
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def heed_signals():
    """In the child: a test run in the background inherits ignored signals, and so would the program."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def begin(program, command, folder, threads=1, **options):
    # Quiet, or a run that tells of every epoch would wait for somebody to read it.
    words = [program, "--quiet", "--threads", str(threads), *command.split()]
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(words, cwd=folder, preexec_fn=heed_signals, **options)


def contents(folder: pathlib.Path) -> dict:
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*")}


def interrupt_at(program, command, folder, moment, number=signal.SIGINT, threads=1):
    """Whether the run was still going on. It must end soon, with code 130, and leave nothing but a study to resume."""
    before = contents(folder)
    process = begin(program, command, folder, threads)
    try:
        while process.poll() is None and used_seconds(process) < moment:
            time.sleep(0.005)
        if process.poll() is not None:
            assert process.returncode == 0, process.stderr.read()
            return False
        used = used_seconds(process)
        process.send_signal(number)
        deadline = time.monotonic() + PATIENCE
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid != 0:
                break
            assert time.monotonic() < deadline, f"{command}: still there {PATIENCE} s after a signal at {used:.2f} s"
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        after = usage.ru_utime + usage.ru_stime - used
        said = process.stderr.read().decode()
        where = f"{command}: signal at {used:.2f} s, {after:.2f} s more; {said}"
        assert after < MOST_SECONDS, where
        # Before the program heeds signals, one simply ends it. Code 0: the work was done already.
        assert process.returncode in (130, 0) or (process.returncode == -number and used < 0.1), where
        assert said.count("assay: ") <= 1 and "internal" not in said, where
        left = {path for path in contents(folder) if ".tmp-" in path.name}
        assert not left, where
        if process.returncode == 130:
            changed = {path for path, at in contents(folder).items() if before.get(path) != at}
            assert all(path.parts[0] == "made" for path in changed), (where, changed)
        return True
    finally:
        if process.returncode is None:
            process.kill()
        process.stderr.close()
        process.wait()
        subprocess.run(["rm", "-rf", *folder.glob("made*")], check=True)


def interrupt_everywhere(program, command, folder, moments):
    """Signals at so many moments of the first seconds of the processor, the same in every run of this test.

    At least one of them must come before the end, or the test would say nothing.
    """
    draw = random.Random(command)
    most = 0.02 if command.split()[0] in QUICK else 1.5
    hits = 0
    for i in range(moments):
        moment = draw.uniform(0, most) if i > 0 else draw.uniform(0, most / 5)
        hits += interrupt_at(program, command, folder, moment, threads=1 + i % 3)
    # On a fast machine a command may end before all of these: earlier ones, then.
    while hits == 0 and most > 0.05:
        most /= 2
        hits += interrupt_at(program, command, folder, draw.uniform(0, most / 5), threads=1)
    assert hits > 0 or command.split()[0] in QUICK, f"{command}: ended before every signal"


@pytest.fixture(scope="module")
def folder(program, tmp_path_factory):
    made = tmp_path_factory.mktemp("cancelled")
    prepare(program, made)
    return made


@pytest.mark.parametrize("name", COMMANDS)
def test_one_signal_ends_a_command(program, folder, name):
    interrupt_everywhere(program, COMMANDS[name], folder, 2)


# Calls that wait: for a writer, for bytes, for a reader. No processor is used, so the clock decides.

FIFO = {
    "a table": "describe pipe.csv",
    "a packed table": "describe pipe.csv.gz",
    "an array": "describe pipe.npy",
    "arrays": "describe pipe.npz",
    "Parquet": "describe pipe.parquet",
    "explanations": "aggregate --members pipe.npz,other.npz --aggregator mean",
    "rules": "gate study pipe.json",
    "groups": f"explain {WIDE} --method gradient_x_input --groups pipe.json",
}
WRITERS = {"nobody writes": None, "nothing comes": b"", "no more comes": b"a,b\n1,2\n"}


def ends_by(process, number):
    time.sleep(0.3)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(number)
    begun = time.monotonic()
    assert process.wait(PATIENCE) == 130
    assert time.monotonic() - begun < PATIENCE / 3


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("command", FIFO)
def test_a_pipe_that_gives_nothing(program, folder, request, command, writer):
    if "parquet" in FIFO[command]:
        request.getfixturevalue("arrow_plugin")
    path = folder / next(word for word in FIFO[command].replace(",", " ").split() if word.startswith("pipe"))
    os.mkfifo(path)
    writing = None
    process = begin(program, FIFO[command], folder)
    try:
        if WRITERS[writer] is not None:
            writing = os.open(path, os.O_RDWR | os.O_NONBLOCK)
            os.write(writing, b"\x93NUM"[: len(WRITERS[writer])] if path.suffix == ".npy" else WRITERS[writer])
        ends_by(process, signal.SIGINT)
    finally:
        process.kill()
        process.stderr.close()
        if writing is not None:
            os.close(writing)
        path.unlink()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_standard_input_that_gives_nothing(program, folder, number):
    process = begin(program, "describe -", folder, stdin=subprocess.PIPE)
    ends_by(process, number)
    process.stdin.close()
    process.stderr.close()


def test_a_pipe_that_nobody_reads(program, folder):
    path = folder / "pipe.csv"
    os.mkfifo(path)
    try:
        process = begin(program, "data x.npy --out pipe.csv", folder)  # nobody opens it
        until_idle(process)
        ends_by(process, signal.SIGINT)
        process.stderr.close()
        reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # somebody does, and reads nothing
        process = begin(program, "data x.npy --out pipe.csv", folder)
        until_idle(process)
        ends_by(process, signal.SIGINT)
        process.stderr.close()
        os.close(reading)
    finally:
        path.unlink()


@pytest.mark.parametrize(
    "command", ["data x.npy --out -", "neighbours small.csv --k 399", "neighbours small.csv --json"]
)
def test_standard_output_that_nobody_reads(program, folder, command):
    process = begin(program, command, folder, stdout=subprocess.PIPE)
    select.select([process.stdout], [], [], PATIENCE)
    until_idle(process)
    ends_by(process, signal.SIGINT)
    process.stdout.close()
    process.stderr.close()


def until_idle(process):
    """Until it uses no processor any more, as one that waits."""
    deadline = time.monotonic() + PATIENCE
    before, still = -1.0, 0
    # A fast machine may take less than a tick to begin waiting: then only a longer look tells.
    while still < (1 if before > 0 else 10):
        assert time.monotonic() < deadline
        time.sleep(0.3)
        now = used_seconds(process)
        before, still = now, still + 1 if now == before else 0


def test_a_pipe_is_read_as_before(program, folder, tmp_path):
    """What comes late and in pieces is a whole file all the same, and so is what goes out to a slow reader."""
    os.mkfifo(tmp_path / "in.csv")
    os.mkfifo(tmp_path / "out.csv")
    process = begin(program, "data in.csv --out out.csv", tmp_path)
    rows = [f"{i},{i * i}\n" for i in range(30_000)]
    writer = subprocess.Popen(
        ["bash", "-c", "exec >in.csv; sleep 0.2; head -c 100000; sleep 0.2; cat"], cwd=tmp_path, stdin=subprocess.PIPE
    )
    reader = subprocess.Popen(
        ["bash", "-c", "exec <out.csv; sleep 0.3; head -c 10; sleep 0.2; cat"], cwd=tmp_path, stdout=subprocess.PIPE
    )
    (tmp_path / "rows").write_text("a,b\n" + "".join(rows))
    writer.communicate((tmp_path / "rows").read_bytes())
    out = reader.communicate(timeout=PATIENCE)[0].decode()
    assert process.wait(PATIENCE) == 0
    process.stderr.close()
    found = np.loadtxt(out.splitlines(), delimiter=",", skiprows=1)
    np.testing.assert_array_equal(found, np.array([[i, np.float32(i * i)] for i in range(30_000)]))
