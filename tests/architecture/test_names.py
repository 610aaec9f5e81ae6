"""What a study, an archive, a report or a front end needs to know of a method, criterion or aggregator stands in its
table entry: no such thing is known by its name there. And the library does not know how a front end spells an argument.
The scanners are tried on bad text first."""

import pathlib
import re

import assay

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACES = ["assay/study", "assay/archive", "assay/report", "cli", "python/src", "python/assay"]
# The paper's own protocols name what the paper ran; a default of a signature is an example that users see.
ALLOWED = {
    "assay/study/reproduce": None,
    "python/assay/_functions.py": {"kernel_shap"},
}
LITERAL = re.compile(r'(?<![A-Za-z0-9_])(?:u8|[rbf])?"((?:[^"\\\n]|\\.)*)"')


def names() -> set[str]:
    tables = (assay.methods(), assay.criteria(), assay.aggregators())
    return {entry.name for table in tables for entry in table if "_" in entry.name}


def without_comments(text: str, suffix: str) -> str:
    if suffix == ".py":
        text = re.sub(r'"""(?:.|\n)*?"""', '""', text)
        return re.sub(r"#[^\n]*", "", text)
    return re.sub(r"//[^\n]*", "", text)


def literals(text: str, suffix: str, known: set[str]) -> list[str]:
    """Names that are a whole text by themselves, or with options behind; those inside of sentences are examples."""
    found = []
    for content in LITERAL.findall(without_comments(text, suffix)):
        if content.split(":")[0] in known:
            found.append(content)
    return found


def allowed(path: str, literal: str) -> bool:
    return any(path.startswith(place) and (words is None or literal in words) for place, words in ALLOWED.items())


def test_the_scanner_finds_names():
    known = {"tree_shap", "avg_sensitivity"}
    assert literals('if (spec.name == "tree_shap") {', ".cpp", known) == ["tree_shap"]
    assert literals('x = {"avg_sensitivity:radius=1"}', ".py", known) == ["avg_sensitivity:radius=1"]
    assert literals('// "tree_shap"\nreturn "as in tree_shap, say";', ".cpp", known) == []
    assert literals('"""says "tree_shap" here"""\n# "tree_shap"', ".py", known) == []


def test_nothing_is_known_by_its_name():
    known = names()
    assert len(known) > 30
    bad = []
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix not in {".h", ".cpp", ".py"}:
                continue
            where = path.relative_to(ROOT).as_posix()
            found = literals(path.read_text(encoding="utf-8"), path.suffix, known)
            bad += [f'{where}: "{literal}"' for literal in found if not allowed(where, literal)]
    assert not bad, "\n".join(bad)


# What these say is for the program that made the study, which its settings name.
SPELLS_FOR_A_PROGRAM = {"assay/archive/folder_claim.cpp", "assay/archive/study_settings.cpp"}


def options(text: str) -> list[str]:
    """Texts that name an option of the command line, or an argument of the package ("pool=")."""
    contents = LITERAL.findall(without_comments(text, ".cpp"))
    return [each for each in contents if re.search(r"(^|[ (])--[a-z]|\bgive [a-z_]+=", each)]


def test_the_library_does_not_spell_arguments():
    assert options('fail_input("--target: expected");') == ["--target: expected"]
    assert options('fail_input("none (give pool=)"); // "--pool"') == ["none (give pool=)"]
    assert options('"|---|---|"; "a -- b"; "weights=[1, 2]"') == []
    bad = []
    for path in sorted((ROOT / "assay").rglob("*.cpp")):
        where = path.relative_to(ROOT).as_posix()
        if where not in SPELLS_FOR_A_PROGRAM:
            bad += [f'{where}: "{each}"' for each in options(path.read_text(encoding="utf-8"))]
    assert not bad, "\n".join(bad)
