"""The modules of workloads, read and not imported: their libraries are not in this environment."""

import ast
import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "peers"


def assigned(file, name):
    """What a module assigns to a name at its top level."""
    for statement in ast.parse(file.read_text()).body:
        if isinstance(statement, ast.Assign) and any(ast.unparse(target) == name for target in statement.targets):
            return statement.value
    return None


def workload_names(file):
    """Names of a module's workloads, as they are written."""
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    named = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Workload"]
    return [ast.unparse(call.args[0]) for call in named]


MODULES = ast.literal_eval(assigned(FOLDER / "__main__.py", "MODULES"))


@pytest.mark.parametrize("name", MODULES)
def test_every_module_that_runs_has_workloads(name):
    file = FOLDER / f"{name}.py"
    assert file.exists()
    assert assigned(file, "WORKLOADS") is not None
    assert workload_names(file)


def test_every_module_with_workloads_runs():
    found = {file.stem for file in FOLDER.glob("*.py") if assigned(file, "WORKLOADS") is not None}
    assert found == set(MODULES) and len(MODULES) == len(set(MODULES))


def test_names_of_workloads_are_unique():
    names = [name for module in MODULES for name in workload_names(FOLDER / f"{module}.py")]
    assert sorted(names) == sorted(set(names))
