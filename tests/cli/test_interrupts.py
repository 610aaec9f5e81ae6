"""A run that is interrupted, killed or cut off leaves nothing broken behind."""

import os
import pathlib
import random
import signal
import subprocess
import time

import numpy as np
import pytest

SECONDS_TO_STOP = 10  # far more than it takes: other work may share the machine


def until(happened, seconds=30):
    """Waits for something that the program does."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.002)


def interrupt(process):
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begun < SECONDS_TO_STOP
    return process.returncode, out.decode(), err.decode()


def save_table(path, rows, columns):
    np.save(path, np.random.default_rng(5).normal(size=(rows, columns)).astype("f4"))


def bytes_read(process, name: str) -> int:
    """How far the program is in a file that it has open."""
    for link in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            if os.readlink(link).endswith(name):
                return int((link.parent.parent / "fdinfo" / link.name).read_text().split()[1])
        except FileNotFoundError:  # closed meanwhile
            continue
    return 0


def test_ctrl_c_during_a_search(start, processor_seconds, tmp_path):
    save_table(tmp_path / "x.npy", 60_000, 60)
    process = start("neighbours", "x.npy", "--k", "20")
    until(lambda: processor_seconds(process) > 0.5)
    assert process.poll() is None
    code, out, err = interrupt(process)
    assert code == 130
    assert err.count("\n") <= 1 and "internal" not in err
    # What was found until then has been printed, in whole lines.
    assert out == "" or (out.split()[:3] == ["row", "neighbour", "distance"] and out.endswith("\n"))
    assert [path.name for path in tmp_path.iterdir()] == ["x.npy"]


def test_ctrl_c_while_reading_and_while_writing(start, convert, tmp_path):
    save_table(tmp_path / "x.npy", 400_000, 20)
    (tmp_path / "y.csv").write_text("old\n1\n")
    process = start("data", "x.npy", "--out", "y.csv")
    until(lambda: any(path.stat().st_size > 100_000 for path in tmp_path.glob("y.csv.tmp*")))
    code, out, _ = interrupt(process)
    assert (code, out) == (130, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npy", "y.csv"]
    assert (tmp_path / "y.csv").read_text() == "old\n1\n"

    convert("x.npy", "big.csv")
    process = start("data", "big.csv", "--out", "y.csv")
    until(lambda: bytes_read(process, "big.csv") > 3_000_000)
    code, out, _ = interrupt(process)
    assert (code, out) == (130, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.csv", "x.npy", "y.csv"]
    assert (tmp_path / "y.csv").read_text() == "old\n1\n"


@pytest.mark.parametrize("name", ["y.csv", "y.npz", "y.csv.gz", "y.parquet"])
def test_killed_at_any_moment_leaves_the_old_file_or_the_new(start, convert, tmp_path, name):
    """Five kills a format, at random moments of the whole run and of its writing."""
    old = b"old,but,whole\n" * 1000
    save_table(tmp_path / "x.npy", 20_000, 20)
    begun = time.monotonic()
    new = convert("x.npy", name).read_bytes()
    whole_run = time.monotonic() - begun
    draw = random.Random(name)
    killed = 0
    for attempt in range(5):
        (tmp_path / name).write_bytes(old)
        process = start("data", "x.npy", "--out", name)
        if attempt % 2:
            until(lambda process=process: list(tmp_path.glob(name + ".tmp*")) or process.poll() is not None)
        # The first at once, so that one at least comes before the end, however fast the machine is meanwhile.
        time.sleep(draw.uniform(0, whole_run * (0.5 if attempt % 2 else 1)) if attempt > 0 else 0)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        assert (tmp_path / name).read_bytes() in (old, new)
        for left in tmp_path.glob(name + ".tmp*"):
            left.unlink()
    assert killed > 0


def test_output_keeps_permissions_and_links(convert, tmp_path):
    (tmp_path / "real.csv").write_text("old\n")
    (tmp_path / "real.csv").chmod(0o640)
    (tmp_path / "link.csv").symlink_to("real.csv")
    convert("iris", "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "real.csv").read_text().count("\n") == 151


@pytest.mark.parametrize(
    "command",
    ["neighbours iris --k 149", "neighbours iris --k 149 --json", "data big.npy --out -", "describe big.npy --json"],
)
def test_reader_that_goes_away_is_no_crash(program, tmp_path, command):
    np.save(tmp_path / "big.npy", np.zeros((300, 3000), "f4"))
    process = subprocess.Popen(
        ["bash", "-c", f'"$0" {command} | head -1; exit ${{PIPESTATUS[0]}}', program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = process.communicate(timeout=60)
    assert out.count("\n") == 1
    assert process.returncode == 1
    assert err.startswith("assay: ") and err.count("\n") == 1 and "internal error" not in err


@pytest.mark.parametrize("command", ["describe iris", "neighbours iris --json", "list datasets", "data iris --out -"])
def test_full_disk_behind_stdout_is_an_error(program, tmp_path, command):
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [program, *command.split()], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert result.returncode == 1
    assert result.stderr.startswith("assay: ") and result.stderr.count("\n") == 1
    assert "internal error" not in result.stderr


@pytest.mark.parametrize("name", ["y.npz.xz", "y.parquet", "y.idx"])
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_stops_every_writer_and_leaves_nothing(start, tmp_path, name, signal_number):
    save_table(tmp_path / "x.npy", 100_000, 100)
    process = start("data", "x.npy", "--out", name)
    until(lambda: list(tmp_path.glob(name + ".tmp*")) or process.poll() is not None)
    process.send_signal(signal_number)
    process.communicate(timeout=30)
    assert process.returncode in (0, 130)
    left = {path.name for path in tmp_path.iterdir()} - {"x.npy"}
    assert left == ({name} if process.returncode == 0 else set())


def test_a_terminal_that_goes_away_does_not_abort_the_run(program, tmp_path):
    """Progress cannot be shown any more; the work goes on or stops, but nothing is left half done."""
    save_table(tmp_path / "x.npy", 200_000, 50)
    try:
        master, slave = os.openpty()
    except OSError:
        pytest.skip("no pseudo-terminals here")
    process = subprocess.Popen(
        [program, "data", "x.npy", "--out", "y.csv"],
        cwd=tmp_path,
        stderr=slave,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    os.close(slave)
    until(lambda: list(tmp_path.glob("y.csv.tmp*")) or process.poll() is not None)
    time.sleep(0.4)
    os.close(master)
    assert process.wait(timeout=120) in (0, 1, 130)
    assert not list(tmp_path.glob("y.csv.tmp*"))


def test_nohup_is_respected(program, tmp_path):
    """A signal that was ignored when the program started stays ignored."""
    save_table(tmp_path / "x.npy", 100_000, 50)
    process = subprocess.Popen(
        [program, "data", "x.npy", "--out", "y.csv", "--quiet"],
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    until(lambda: list(tmp_path.glob("y.csv.tmp*")) or process.poll() is not None)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=120) == 0
    assert (tmp_path / "y.csv").exists()
