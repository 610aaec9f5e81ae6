"""kill -9 at random moments, then --resume: the same study, twenty times out of twenty."""

import random
import signal
import subprocess
import time

RUNS = 20


def results_of(folder):
    skip = {"run.json", "report.html", "manifest.json"}
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name not in skip}


def test_twenty_out_of_twenty(program, tmp_path):
    draw = random.Random(11)
    begun = time.monotonic()
    subprocess.run([program, "--quiet", "study", "iris", "--out", str(tmp_path / "whole")], check=True)
    whole = time.monotonic() - begun
    expected = results_of(tmp_path / "whole")
    kills = 0
    for run in range(RUNS):
        folder = tmp_path / f"study{run}"
        arguments = [program, "--quiet", "study", "iris", "--out", str(folder)]
        while True:
            resume = ["--resume"] if (folder / "settings.json").exists() else []
            process = subprocess.Popen(arguments + resume, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(draw.uniform(0, whole))
            process.kill()
            _, err = process.communicate()
            if process.returncode == 0:
                break
            assert process.returncode == -signal.SIGKILL, err
            kills += 1
        assert results_of(folder) == expected, f"run {run}"
    assert kills >= RUNS  # each is killed about once before it ends
