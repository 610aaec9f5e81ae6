"""Which class or output is explained: names, indices, and classes that are called by numbers."""

import re

import numpy as np
import pytest

import assay


def refused(message):
    """A ValueError of one line that begins so; `...` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in message.split("..."))
    return pytest.raises(ValueError, match=f"^{pattern}")


def test_targets_by_name_come_before_targets_by_index():
    """For classes that are called by numbers, alike for one target and for a list of them."""
    function = lambda rows: np.stack([rows[:, 0], 10 * rows[:, 1], 100 * rows[:, 0]], axis=1)  # noqa: E731
    model = assay.wrap(function, classes=["1", "2", "3"], value="margin")
    rows = np.ones((4, 2))
    one = assay.explain(model, rows, "occlusion", baseline="zero", target=1)
    each = assay.explain(model, rows, "occlusion", baseline="zero", target=[1, 1, 2, 3])
    assert list(one.target) == ["1"] * 4 and one.values[0].tolist() == [1, 0]
    assert list(each.target) == ["1", "1", "2", "3"] and each.values[2:].tolist() == [[0, 10], [100, 0]]
    texts = assay.explain(model, rows, "occlusion", baseline="zero", target=["1", "0", "2", "3"])
    assert list(texts.target) == ["1", "1", "2", "3"]  # as the command line has it: no class is called 0


NUMBERED = [
    (["1", "2", "3"], {1: "1", 2: "2", 3: "3", 0: None, 4: None, "0": "1", "3": "3"}),
    (["0", "1", "2"], {0: "0", 2: "2", 3: None, -1: None}),
    (["2", "1", "0"], {0: "0", 2: "2", np.int64(1): "1"}),
    (["-1", "0", "1"], {-1: "-1", 0: "0", 1: "1", 2: None, "2": "1"}),
    (["1.0", "2.0", "3.0"], {1: "1.0", 3: "3.0", 0: None, 2.0: "2.0"}),
    (["1", "2", "other"], {0: "1", 1: "2", 2: "other", "1": "1", "0": "1", 3: None, -1: None}),
    (["1", "1.0", "2"], {0: "1", 1: "1.0", 2: "2"}),
    (["no", "yes", "both"], {0: "no", 2: "both", np.uint8(1): "yes", "yes": "yes", "2": "both", 3: None}),
]


@pytest.mark.parametrize(("classes", "meanings"), NUMBERED, ids=[",".join(classes) for classes, _ in NUMBERED])
def test_a_target_means_the_same_alone_and_in_every_list(classes, meanings):
    """Each class has its own output, so the values say which one is explained."""
    model = assay.wrap(lambda rows: rows * [1, 10, 100], classes=classes, value="margin")
    rows = np.ones((3, 3))
    for said, meant in meanings.items():
        if meant is None:
            for target in (said, [said] * 3, [classes[0], said, classes[0]]):
                with pytest.raises(ValueError, match=r"^target(, row [01] \(counted from 0\))?: expected .*, found "):
                    assay.explain(model, rows, "occlusion", baseline="zero", target=target)
            continue
        size = 10 ** classes.index(meant)
        for target in (said, [said] * 3, [classes[0], said, classes[0]], [said, said, classes[1]]):
            made = assay.explain(model, rows, "occlusion", baseline="zero", target=target)
            assert (made.target[1], made.values[1].sum()) == (meant, size), target


def test_a_number_that_no_class_is_called_is_told_the_names():
    model = assay.wrap(lambda rows: rows, classes=["1", "2", "3"], value="margin")
    with refused("target: expected 'predicted', '1', '2' or '3', found 0"):
        assay.explain(model, np.ones((3, 3)), "occlusion", baseline="zero", target=0)
    for other in (True, 1.0, 1.5, None):
        with refused(
            f"target, row 1 (counted from 0): expected '1', '2' or '3' or an index from 0 to 2, found {other}"
        ):
            assay.explain(model, np.ones((3, 3)), "occlusion", baseline="zero", target=["1", other, "1"])
    with refused("target, row 2 (counted from 0): expected '1', '2' or '3', found 0"):
        assay.explain(model, np.ones((3, 3)), "occlusion", baseline="zero", target=np.array([2, 1, 0]))


def test_what_explanations_call_their_targets_is_no_index():
    model = assay.wrap(lambda rows: rows, classes=["a", "b", "c"], value="margin")
    made = assay.Explanations.from_array(np.ones((3, 3)), target=["1"] * 3)
    with refused("target, row 0 (counted from 0): expected 'a', 'b' or 'c', found '1'"):
        assay.evaluate(made, "faithfulness", model=model, X=np.ones((3, 3)), baseline="zero")


def test_outputs_of_a_regression_must_be_named():
    model = assay.wrap(lambda rows: np.asarray(rows)[:, :2], name="pair")
    with refused("target: expected '0' or '1' or an index from 0 to 1, as pair gives 2 values, found none; assay.expl"):
        assay.explain(model, np.ones((3, 2)), "occlusion", baseline="zero")
    with refused("target: expected '0' or '1' or an index from 0 to 1, as pair has no classes, found 'predicted'"):
        assay.explain(model, np.ones((3, 2)), "occlusion", baseline="zero", target="predicted")
