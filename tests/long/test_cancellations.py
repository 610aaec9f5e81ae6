"""The same as tests/cli/test_cancellation.py, at many more moments of every command."""

import importlib.util
import pathlib
import random

import pytest

PATH = pathlib.Path(__file__).resolve().parent.parent / "cli" / "test_cancellation.py"
SPEC = importlib.util.spec_from_file_location("cancellation", PATH)
short = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(short)

MOMENTS = 25
SECONDS = 6  # of the processor


@pytest.fixture(scope="module")
def folder(program, tmp_path_factory):
    made = tmp_path_factory.mktemp("cancelled")
    short.prepare(program, made)
    return made


@pytest.mark.parametrize("name", short.COMMANDS)
def test_one_signal_ends_a_command_at_any_moment(program, folder, name):
    draw = random.Random(f"long {name}")
    going = 0
    for _ in range(MOMENTS):
        number = draw.choice([short.signal.SIGINT, short.signal.SIGTERM, short.signal.SIGHUP])
        going += short.interrupt_at(program, short.COMMANDS[name], folder, draw.uniform(0, SECONDS), number)
    assert going > 0
