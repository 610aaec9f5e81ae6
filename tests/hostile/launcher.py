"""Runs programs under limits of memory and time and says what they took. A process of its own, small on purpose: the
peak of memory that the kernel reports of a child is never below that of the process that forked it.

Reads a JSON line for each run, writes one with the outcome. Run as `python -I -S launcher.py`."""

import json
import os
import resource
import signal
import sys
import tempfile

MOST_TEXT = 20_000


def begin(order, out, err):
    """In the child: never returns."""
    try:
        os.chdir(order["cwd"])
        resource.setrlimit(resource.RLIMIT_AS, (order["address_space"],) * 2)
        resource.setrlimit(resource.RLIMIT_CPU, (order["cpu"], order["cpu"] + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        os.execve(order["command"][0], order["command"], order["environment"])
    finally:
        os._exit(125)


def text_of(file):
    file.seek(0)
    text = file.read(MOST_TEXT).decode("utf-8", "backslashreplace")
    file.seek(0)
    file.truncate()
    return text


def run(order, out, err):
    child = os.fork()
    if child == 0:
        begin(order, out, err)
    late = []

    def stop(*_):
        late.append(True)
        os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, order["wall"])
    _, status, used = os.wait4(child, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "late": bool(late),
        "peak": used.ru_maxrss * 1024,
        "cpu": used.ru_utime + used.ru_stime,
        "out": text_of(out),
        "err": text_of(err),
    }


def main():
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        for line in sys.stdin:
            print(json.dumps(run(json.loads(line), out, err)), flush=True)


if __name__ == "__main__":
    main()
