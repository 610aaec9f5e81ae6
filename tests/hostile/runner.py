"""Spoilt files given to the program, one after the other, and what must hold for each.

`python tests/hostile/runner.py FORMAT CASE` runs one case again and says what came of it."""

import concurrent.futures
import json
import os
import pathlib
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import mutators
import seeds
from formats import FORMATS, MIB

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "build" / "hostile"
WORKERS = 2
NOT_OURS = re.compile(r"internal error|not enough memory|bad_alloc|Traceback|terminate called|Sanitizer|runtime error")


def listing(folder):
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


class Worker:
    """A copy of the kit to spoil, and a launcher."""

    def __init__(self, program, kit, folder):
        self.program, self.folder = program, folder
        shutil.copytree(kit, folder)
        command = [sys.executable, "-I", "-S", str(pathlib.Path(__file__).with_name("launcher.py"))]
        self.launcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.launcher.stdin.close()
        self.launcher.wait()

    def run(self, command, form, size):
        """What the program did under the limits of this format for so many bytes."""
        seconds = form.most_seconds(size)
        order = {
            "command": [self.program, "--quiet", "--threads", "2", *command],
            "cwd": str(self.folder),
            "environment": {"PATH": os.environ.get("PATH", ""), "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")},
            # Libraries and stacks of threads take addresses without memory behind them.
            "address_space": form.most_memory(size) + 4096 * MIB,
            "cpu": int(seconds) + 2,
            "wall": 20 * seconds + 60,
        }
        self.launcher.stdin.write(json.dumps(order) + "\n")
        self.launcher.stdin.flush()
        return json.loads(self.launcher.stdout.readline())

    def complaints(self, form, content, command):
        """What is wrong with what the program made of this file; nothing where all is well."""
        place = self.folder / form.place
        sound = place.read_bytes() if place.exists() else None
        place.write_bytes(content)
        before = listing(self.folder)
        got = self.run(command, form, len(content))
        wrong = list(judged(form, len(content), got))
        written = {name for name, time in listing(self.folder).items() if before.get(name) != time}
        written |= before.keys() - listing(self.folder).keys()
        if got["code"] != 0 and written:
            wrong.append(f"wrote {', '.join(sorted(written))} although it failed")
        for name in written - before.keys():
            (self.folder / name).unlink()
        if sound is None:
            place.unlink(missing_ok=True)
        else:
            place.write_bytes(sound)
        return wrong


def judged(form, size, got):
    if got["late"]:
        yield "did not end"
    elif got["code"] < 0:
        yield f"ended by signal {-got['code']}"
    elif got["code"] not in form.codes:
        yield f"exit code {got['code']}"
    if got["code"] in (1, 2):
        if got["code"] == 1 and got["out"]:
            yield f"printed before it refused the file: {got['out'][:200]!r}"
        lines = got["err"].splitlines()
        if len(lines) != 1 or not lines[0].startswith("assay: ") or not lines[0].isprintable():
            yield f"not one clean line: {got['err'][:300]!r}"
    if found := NOT_OURS.search(got["err"]):
        yield f"{found[0]}: {got['err'][:300]!r}"
    if got["peak"] > form.most_memory(size):
        yield f"{got['peak'] / MIB:.0f} MiB for {size} bytes, where {form.most_memory(size) / MIB:.0f} are allowed"
    if got["cpu"] > form.most_seconds(size):
        yield f"{got['cpu']:.1f} s for {size} bytes, where {form.most_seconds(size):.1f} are allowed"


def spoilt(name, case, kit):
    """The bytes and the command of one case, which its name and number alone decide."""
    form = FORMATS[name]
    draw = random.Random(f"{name} {case}")
    sound = form.sound(kit)
    content = mutators.spoil(form.kind, draw.choice(sound), draw.choice(sound), draw)
    return content, draw.choice(form.commands)


class Farm:
    """Workers side by side over one kit."""

    def __init__(self, program, folder, kit=None):
        self.kit = kit or folder / "kit"
        if kit is None:
            self.kit.mkdir()
            seeds.make_kit(program, self.kit)
        self.workers = [Worker(program, self.kit, folder / f"worker{i}") for i in range(WORKERS)]
        self.free = queue.SimpleQueue()
        for worker in self.workers:
            self.free.put(worker)
        self.threads = concurrent.futures.ThreadPoolExecutor(WORKERS)

    def close(self):
        self.threads.shutdown()
        for worker in self.workers:
            worker.close()

    def try_content(self, form, content, command):
        worker = self.free.get()
        try:
            return worker.complaints(form, content, command)
        finally:
            self.free.put(worker)

    def try_case(self, name, case):
        """A line for a case that failed, with the file kept and how to run it again; else nothing."""
        content, command = spoilt(name, case, self.kit)
        wrong = self.try_content(FORMATS[name], content, command)
        return self.report(name, case, content, command, wrong) if wrong else None

    def report(self, name, case, content, command, wrong):
        KEPT.mkdir(parents=True, exist_ok=True)
        kept = KEPT / f"{name.replace(' ', '_')}-{case}-{pathlib.PurePath(FORMATS[name].place).name}"
        kept.write_bytes(content)
        again = f"python tests/hostile/runner.py '{name}' {case}"
        return f"{name} {case}: {'; '.join(wrong)}\n  file: {kept}\n  `assay {' '.join(command)}`\n  again: {again}"

    def try_cases(self, name, cases):
        return [line for line in self.threads.map(lambda case: self.try_case(name, case), cases) if line]


def made_case(farm, name, case):
    """A file of test_made_files.py, by its name with - for spaces."""
    from test_made_files import made_form

    form, content = made_form(case.replace("-", " "))
    tried = [(command, farm.try_content(form, content, command)) for command in form.commands]
    return "\n".join(farm.report(name, case, content, command, wrong) for command, wrong in tried if wrong)


def main(name, case):
    program = os.environ.get("ASSAY_PROGRAM", str(ROOT / "build" / "assay"))
    with tempfile.TemporaryDirectory() as folder:
        farm = Farm(program, pathlib.Path(folder))
        found = farm.try_case(name, int(case)) if case.isdigit() else made_case(farm, name, case)
        print(found or "nothing is wrong")
        farm.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
