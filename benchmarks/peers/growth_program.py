"""Runs a program several times and prints CPU seconds of each run and its peak memory, as JSON: for growth.py.

A small process of its own, because a process starts with the peak of the one that it was forked from, and that of a
process full of libraries would hide the program's.
"""

import json
import os
import sys


def main():
    rounds, command = int(sys.argv[1]), sys.argv[2:]
    found = []
    for _ in range(rounds):
        child = os.posix_spawn(command[0], command, os.environ)
        _, status, used = os.wait4(child, 0)
        if status != 0:
            raise SystemExit(f"{command} failed")
        found.append({"seconds": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
