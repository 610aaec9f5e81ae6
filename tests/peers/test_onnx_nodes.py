"""ONNX's own tests of operators, to the newest version that the onnx package of the peers brings.

`make test` runs the same test program on those of Debian, which end at version 17. Until 1.22 the package has the tests
as files; 1.23 only the functions that make them, and the files are written here.
"""

import os
import pathlib
import subprocess
import warnings

import onnx.backend.test
import pytest
from onnx import TensorProto, numpy_helper
from onnx.backend.test import loader


def in_bytes(value, described):
    """A file of one value, of the kind that the graph says."""
    if isinstance(value, TensorProto):
        return value.SerializeToString()
    kinds = {
        "map_type": numpy_helper.from_dict,
        "sequence_type": numpy_helper.from_list,
        "optional_type": numpy_helper.from_optional,
    }
    make = kinds.get(described.type.WhichOneof("value"), numpy_helper.from_array)
    return make(value, described.name).SerializeToString()


def write_case(case, folder):
    """As ONNX's own command lays out tests: model.onnx, and a folder of values for each set of data."""
    folder.mkdir()
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, values in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        described = {"input": case.model.graph.input, "output": case.model.graph.output}
        for (kind, every), some in zip(described.items(), values, strict=True):
            for place, (value, each) in enumerate(zip(some, every, strict=False)):
                (data / f"{kind}_{place}.pb").write_bytes(in_bytes(value, each))


def node_tests(folder):
    """Where the package has its tests of nodes; if it has none as files, they are made in `folder`."""
    brought = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "node"
    if brought.is_dir():
        return brought
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Their arithmetic overflows on purpose.
        cases = loader.load_model_tests(kind="node")
    for case in cases:
        write_case(case, folder / case.name)
    print(f"onnx {onnx.__version__} has no node tests as files: {len(cases)} were made by its own functions")
    return folder


def test_node_tests_pass(root, tmp_path):
    """tests/model/graph/node_tests_test.cpp does the work, and lists what is skipped, with a reason each."""
    program = root / "build" / "model_tests"
    if not os.access(program, os.X_OK):
        pytest.fail(f"{program} is missing: `make test-peers` builds it")
    result = subprocess.run(
        [program, "--gtest_filter=Onnx.NodeTestsPass", "--gtest_brief=1"],
        env={**os.environ, "ASSAY_ONNX_NODE_TESTS": str(node_tests(tmp_path))},
        capture_output=True,
        text=True,
        timeout=600,
    )
    print(result.stdout)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "passed" in result.stdout
    assert "SKIPPED" not in result.stdout
