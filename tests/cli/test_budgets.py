"""Small files that ask for much: memory and time stay within what is allowed, and Ctrl-C is heard meanwhile."""

import resource
import signal
import struct
import subprocess
import sys
import time

import pytest

GIB = 1 << 30


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number: int, content) -> bytes:
    """A field of a protobuf message: a number, or bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def node(op, inputs, outputs, attributes=b"", name=""):
    named = field(3, name) if name else b""
    return field(
        1,
        b"".join(field(1, each) for each in inputs)
        + b"".join(field(2, each) for each in outputs)
        + named
        + field(4, op)
        + attributes,
    )


def whole_numbers(name, values):
    raw = struct.pack(f"<{len(values)}q", *values)
    return field(5, field(1, len(values)) + field(2, 7) + field(8, name) + field(9, raw))


def matrix(number, name, columns):
    """An input (11) or output (12) of N rows."""
    shape = field(1, field(2, "N")) + field(1, field(1, columns))
    return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def onnx(*parts):
    return field(1, 8) + field(7, b"".join(parts) + field(2, "g")) + field(8, field(1, "") + field(2, 17))


ONE = field(5, field(1, "value") + field(5, field(1, 1) + field(2, 1) + field(9, struct.pack("<f", 1))) + field(20, 4))


def wide(width):
    """x (4 features) by 4 x width ones, summed up: one output."""
    return onnx(
        node("ConstantOfShape", ["s"], ["c"], ONE),
        node("MatMul", ["x", "c"], ["h"]),
        node("ReduceSum", ["h", "axes"], ["y"]),
        whole_numbers("s", [4, width]),
        whole_numbers("axes", [1]),
        matrix(11, "x", 4),
        matrix(12, "y", 1),
    )


def products(count, size):
    """Products of square matrices of ones, one after another."""
    chain = [node("MatMul", [f"p{i}", "p0"], [f"p{i + 1}"], name=f"product {i + 1}") for i in range(count)]
    return onnx(
        node("ConstantOfShape", ["s"], ["p0"], ONE),
        *chain,
        node("MatMul", ["x", f"p{count}"], ["y"]),
        whole_numbers("s", [size, size]),
        matrix(11, "x", size),
        matrix(12, "y", size),
    )


@pytest.fixture
def peak(program, tmp_path):
    """peak(*arguments) runs the program and gives its result and the most memory that it had, in bytes."""

    def run(*arguments):
        # The children's peak is the largest of all so far, so that each run has a parent of its own.
        script = (
            "import resource, subprocess, sys; "
            "code = subprocess.run(sys.argv[1:]).returncode; "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); "
            "sys.exit(code)"
        )
        result = subprocess.run(
            [sys.executable, "-c", script, program, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (6 * GIB, 6 * GIB)),
        )
        lines = result.stderr.splitlines()
        return result.returncode, result.stdout, "\n".join(lines[:-1]), int(lines[-1]) * 1024

    return run


def test_a_wide_constant_takes_little_more_than_itself(peak, tmp_path):
    (tmp_path / "wide.onnx").write_bytes(wide(1 << 23))
    (tmp_path / "x.csv").write_text("a,b,c,d\n0,0,0,0\n0,1,0,0\n-2,0,0,0\n")
    # The constant is 128 MiB, and a row of the hidden layer 32 MiB.
    code, out, err, memory = peak("inspect", "wide.onnx")
    assert (code, err) == (0, "")
    assert "N x 8388608" in out
    assert memory < 1.5 * GIB
    code, out, err, memory = peak("predict", "--model", "wide.onnx", "--data", "x.csv")
    assert (code, err) == (0, "")
    assert out.split() == ["y", "0", "8388608", "-16777216"]
    assert memory < 1.5 * GIB


def test_constants_that_take_too_long_are_refused(assay, one_sentence, tmp_path):
    (tmp_path / "slow.onnx").write_bytes(products(60, 3000))
    sentence = one_sentence(assay("inspect", "slow.onnx"))
    assert sentence == (
        "slow.onnx: node 'product 1' (MatMul): it depends on weights alone, and computing it takes 27027000000 steps; "
        "at most 4294967296 are allowed"
    )


def test_constants_that_take_too_long_together_are_refused(assay, one_sentence, tmp_path):
    # Each is allowed: 1500^3 = 3.4e9 steps; ten come to more than 2^35.
    (tmp_path / "slow.onnx").write_bytes(products(60, 1500))
    sentence = one_sentence(assay("inspect", "slow.onnx"))
    assert sentence.startswith("slow.onnx: node 'product 11' (MatMul): it takes ")
    assert sentence.endswith("billion steps of computation; at most 34.36 billion are allowed")


def test_ctrl_c_ends_the_loading_of_a_model(start, processor_seconds, tmp_path):
    # Nearly all of the work that is allowed, in pieces. Machines take 0.5 to 20 s for it, so that the processor's time
    # tells when to interrupt, and not the clock: reading the file takes less than this, and computing far more.
    (tmp_path / "slow.onnx").write_bytes(products(33_000, 100))
    process = start("inspect", "slow.onnx")
    while process.poll() is None and processor_seconds(process) < 0.1:
        time.sleep(0.001)
    assert process.poll() is None
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - begun < 10  # far more than it takes: other work may share the machine


def test_levels_are_looked_up(assay, tmp_path):
    def processor_time(levels):
        rows = [f"{i % 7},k{i % levels},{i % 2}" for i in range(2 * levels)]
        (tmp_path / "t.csv").write_text("a,c,y\n" + "\n".join(rows) + "\n")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = assay(
            "train", "--data", "t.csv", "--label", "y", "--hidden", "2", "--training", "epochs=1", "--out", "m.onnx"
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert (result.returncode, "wrote m.onnx" in result.stdout) == (0, True), result.stderr
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # Searching each level among the others took ten seconds for 86,000 of them, and a quarter for half as many.
    assert min(processor_time(86_000) for _ in range(2)) < 3 * min(processor_time(43_000) for _ in range(2))


def test_one_hot_columns_that_fit_in_no_memory_are_refused(assay, one_sentence, tmp_path):
    rows = [f"{i % 7},k{i % 86_000},{i % 2}" for i in range(172_000)]
    (tmp_path / "t.csv").write_text("a,c,y\n" + "\n".join(rows) + "\n")
    sentence = one_sentence(assay("data", "t.csv", "--label", "y", "--encode", "one_hot", "--out", "o.csv"))
    assert sentence == (
        "t.csv, column 'c': a column for each of its 86000 levels makes a table of 172000 rows that takes 55.1 GiB, "
        "and at most 1 GiB are allowed; encode categories as label, or leave the column out"
    )
    assert not (tmp_path / "o.csv").exists()
