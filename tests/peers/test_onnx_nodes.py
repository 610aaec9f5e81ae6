"""ONNX's own tests of operators, to the newest version that the onnx package of the peers brings.

`make test` runs the same test program on those of Debian, which end at version 17.
"""

import os
import pathlib
import subprocess

import onnx.backend.test
import pytest


def test_node_tests_pass(root):
    """tests/model/graph/node_tests_test.cpp does the work, and lists what is skipped, with a reason each."""
    program = root / "build" / "model_tests"
    if not os.access(program, os.X_OK):
        pytest.fail(f"{program} is missing: `make test-peers` builds it")
    folder = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "node"
    assert folder.is_dir()
    result = subprocess.run(
        [program, "--gtest_filter=Onnx.NodeTestsPass", "--gtest_brief=1"],
        env={**os.environ, "ASSAY_ONNX_NODE_TESTS": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    print(result.stdout)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "passed" in result.stdout
    assert "SKIPPED" not in result.stdout
