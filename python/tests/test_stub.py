"""_core.pyi says what the extension has: the same classes and functions, with the same parameters, defaults and types.

The extension is described by nanobind itself (nanobind.stubgen reads the signatures that the bindings carry); mypy's
stubtest cannot, because nanobind's functions are no Python functions to it."""

from __future__ import annotations

import ast
import pathlib
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("nanobind", reason="nanobind describes the extension")

STUB = pathlib.Path(__file__).resolve().parent.parent / "assay" / "_core.pyi"


class Expanded(ast.NodeTransformer):
    """A stub with its aliases of types written out."""

    def __init__(self, module: ast.Module) -> None:
        self.meanings = {
            ast.unparse(each.targets[0]): each.value for each in module.body if isinstance(each, ast.Assign)
        }

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.meanings.get(node.id, node)


class Plain(ast.NodeTransformer):
    """One spelling of what the two files may spell in two ways."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        # Annotated[NDArray[...], dict(shape=...)]: nanobind tells of shapes, which no type checker knows.
        if isinstance(node.value, ast.Name) and node.value.id == "Annotated" and isinstance(node.slice, ast.Tuple):
            return node.slice.elts[0]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("np") if node.id == "numpy" else node

    def visit_List(self, node: ast.List) -> ast.AST:
        # A default that is an empty sequence.
        return node if node.elts else ast.Tuple([])


def text(node: ast.expr | None) -> str | None:
    return None if node is None else ast.unparse(Plain().visit(node))


def parameters(function: ast.FunctionDef) -> list[tuple[str, str | None, str | None]]:
    """(name, type, default) of each."""
    given = function.args
    assert not (given.vararg or given.kwarg), f"{function.name}: *args and **kwargs say nothing"
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    defaults = [None] * (len(given.posonlyargs) + len(given.args) - len(given.defaults)) + given.defaults
    return [
        (each.arg, text(each.annotation), text(default))
        for each, default in zip(every, [*defaults, *given.kw_defaults], strict=True)
        if each.arg != "self"
    ]


def contents(body: list[ast.stmt], where: str = "") -> dict[str, tuple[str, Any, str | None]]:
    """name -> (kind, parameters, type) of everything that a stub declares, protocols and aliases of types left out."""
    found: dict[str, tuple[str, Any, str | None]] = {}
    for node in body:
        if isinstance(node, ast.AnnAssign):
            found[where + ast.unparse(node.target)] = ("value", None, text(node.annotation))
        elif isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(each) for each in node.decorator_list]
            kind = ", ".join(decorators) or "function"
            found[where + node.name] = (kind, parameters(node), text(node.returns))
        elif isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
            found[where + node.name] = ("class", [ast.unparse(each) for each in node.bases], None)
            found |= contents(node.body, f"{where}{node.name}.")
    return found


@pytest.fixture(scope="module")
def written() -> ast.Module:
    module = ast.parse(STUB.read_text())
    return Expanded(module).visit(module)


@pytest.fixture(scope="module")
def described(tmp_path_factory) -> ast.Module:
    folder = tmp_path_factory.mktemp("described")
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "assay._core", "-o", str(folder / "_core.pyi")]
    result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert result.returncode == 0, result.stderr
    return ast.parse((folder / "_core.pyi").read_text())


def test_names(written, described):
    ours, theirs = set(contents(written.body)), set(contents(described.body))
    # An exception is no type of nanobind's; where it is public, nanobind names the module that it is public in.
    imported = {name.name for each in described.body if isinstance(each, ast.ImportFrom) for name in each.names}
    assert ours - theirs - imported == set(), "in the stub alone"
    assert theirs - ours == set(), "in the extension alone"
    assert len(ours) > 100


def fits(mine: str | None, its: str | None) -> bool:
    """Whether a type of the stub is the extension's, or says more: nanobind knows an object, a callable and a dict as
    that alone, and never that a pointer which it gives may be none."""
    more = its is not None and (any(word in its for word in ("object", "Callable")) or its == "dict")
    return mine == its or mine == f"{its} | None" or more


def test_kinds_parameters_and_types(written, described):
    ours, theirs = contents(written.body), contents(described.body)
    problems = []
    for name in sorted(set(ours) & set(theirs)):
        (kind, given, result), (its_kind, its_given, its_result) = ours[name], theirs[name]
        if kind != its_kind:
            problems.append(f"{name}: {kind} in the stub, {its_kind} in the extension")
        elif kind not in ("class", "value"):
            if not fits(result, its_result):
                problems.append(f"{name}: gives {result} in the stub, {its_result} in the extension")
            if [(each, default) for each, _, default in given] != [(each, default) for each, _, default in its_given]:
                problems.append(f"{name}: parameters {given} in the stub, {its_given} in the extension")
                continue
            for (parameter, mine, _), (_, its, _) in zip(given, its_given, strict=True):
                if not fits(mine, its):
                    problems.append(f"{name}: {parameter} is {mine} in the stub, {its} in the extension")
    assert not problems, "\n".join(problems)
