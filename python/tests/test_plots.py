"""The plots' figures hold the numbers that NumPy and pandas find, and names from outside stay text."""

import html
import json
import re
import statistics
import sys
import types

import numpy as np
import pandas
import pytest

from assay import Explanations
from assay._plot_beeswarm import quantiles, spread
from assay._plots import Plots

go = pytest.importorskip("plotly.graph_objects", reason="plots need plotly")

NAMES = ["age", "sex", "income", "height", "weight"]


class Explained:
    """What plots know of explanations, without an engine."""

    def __init__(self, values, **more):
        self.values = np.asarray(values, dtype=np.float32)
        rows, features = self.values.shape
        self.features = NAMES[:features] if features <= len(NAMES) else [f"x{i}" for i in range(features)]
        self.base = self.output = np.full(rows, np.nan)
        self.target, self.target_names = np.full(rows, "yes", dtype=object), ["no", "yes"]
        self.standard_error = self.ids = self.data = None
        self.item_shape = ()
        self.unit, self.method = "margin", "kernel_shap"
        self.provenance = {"model": "model.onnx", "target": "yes"}
        for name, value in more.items():
            setattr(self, name, value)

    def __len__(self):
        return len(self.values)


@pytest.fixture
def values():
    generator = np.random.default_rng(7)
    return (generator.normal(size=(60, 5)) * [0.5, 3, 1, 0.1, 2]).astype(np.float32)


def ticks(figure):
    return list(figure.layout.yaxis.ticktext)


def subtitle(figure):
    return re.sub(r"<[^>]*>", " ", figure.layout.title.text)


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found, dtype=float), expected, rtol=1e-5, atol=1e-7)


# bar


def test_bars_are_means_of_sizes_with_their_standard_errors_the_largest_first(values):
    figure = Plots(Explained(values)).bar()
    assert isinstance(figure, go.Figure)
    frame = pandas.DataFrame(values.astype(float), columns=NAMES).abs()
    expected = frame.mean().sort_values(ascending=False)
    (bars,) = figure.data
    assert ticks(figure) == list(expected.index) == ["sex", "weight", "income", "age", "height"]
    assert list(bars.y) == [0, 1, 2, 3, 4]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the first above
    close(bars.x, expected)
    close(bars.error_x.array, frame.sem()[expected.index])
    assert "sex" in bars.hovertext[0] and f"{expected['sex']:.4g}" in bars.hovertext[0]
    assert "margin" in figure.layout.xaxis.title.text
    for said in ("kernel_shap", "margin", "yes", "model.onnx"):
        assert said in figure.layout.title.text
    assert Plots(Explained(values))() == figure


def test_the_other_features_are_summed_in_one_bar(values):
    figure = Plots(Explained(values)).bar(most=2)
    assert ticks(figure) == ["sex", "weight", "3 others"]
    sums = np.abs(values[:, [0, 2, 3]].astype(float)).sum(axis=1)
    close(figure.data[0].x[2], sums.mean())
    close(figure.data[0].error_x.array[2], statistics.stdev(sums) / len(sums) ** 0.5)
    assert ticks(Plots(Explained(values)).bar(most=4))[-1] == "1 other"


def test_targets_have_bars_of_their_own(values):
    targets = np.array(["b", "a", "b", "c"] * 15, dtype=object)
    explained = Explained(values, target=targets, target_names=["a", "b", "c", "d"])
    figure = Plots(explained).bar()
    assert [bars.name for bars in figure.data] == ["a", "b", "c"]
    assert len({bars.marker.color for bars in figure.data}) == 3
    assert figure.layout.barmode == "group" and figure.layout.showlegend
    means = {name: np.abs(values[targets == name].astype(float)).mean(axis=0) for name in "abc"}
    order = np.argsort(-np.mean(list(means.values()), axis=0))
    assert ticks(figure) == [NAMES[place] for place in order]
    for bars in figure.data:
        close(bars.x, means[bars.name][order])
    only = Plots(explained).bar(target="b")
    assert len(only.data) == 1 and not only.layout.showlegend and "of b" in only.layout.title.text
    close(only.data[0].x, np.sort(means["b"])[::-1])
    with pytest.raises(ValueError, match=r"target: expected one that rows have, 'a', 'b', 'c', found 'd'"):
        Plots(explained).bar(target="d")


def test_of_more_targets_than_colours_those_with_the_most_rows_are_shown():
    targets = np.array([str(number) for number in range(12) for _ in range(number + 1)], dtype=object)
    explained = Explained(np.ones((len(targets), 2)), target=targets, target_names=[str(n) for n in range(12)])
    figure = Plots(explained).bar()
    assert [bars.name for bars in figure.data] == [str(number) for number in range(4, 12)]
    assert "the 8 targets with the most rows of 12" in subtitle(figure)
    assert len(Plots(explained).bar(target=3).data) == 1


def test_undefined_rows_are_left_out_and_counted(values):
    values[3], values[10, 2] = np.nan, np.nan
    defined = np.delete(values, [3, 10], axis=0).astype(float)
    figure = Plots(Explained(values)).bar()
    close(figure.data[0].x, np.sort(np.abs(defined).mean(axis=0))[::-1])
    assert "2 undefined rows left out" in subtitle(figure)
    swarm = Plots(Explained(values)).beeswarm()
    assert {len(points.x) for points in swarm.data} == {58}
    assert "58 rows" in subtitle(swarm) and "2 undefined rows left out" in subtitle(swarm)
    for rows, found in ((np.full((4, 2), np.nan), "4 rows, none of them defined"), (np.empty((0, 2)), "no rows")):
        for plot in (Plots(Explained(rows)).bar, Plots(Explained(rows)).beeswarm):
            with pytest.raises(ValueError, match=found):
                plot()


def test_one_row_and_one_feature_without_target_unit_or_model():
    explained = Explained([[-0.5]], target=None, target_names=[], unit="", method="", provenance={})
    figure = Plots(explained).bar()
    assert list(figure.data[0].x) == [0.5] and figure.data[0].error_x.array is None
    assert subtitle(figure).startswith("attributions: output ")
    assert list(Plots(explained).beeswarm().data[0].x) == [-0.5]
    assert list(Plots(explained).waterfall(0).data[1].x) == [-0.5]
    regression = Explained([[1.0]], target=np.array(["value"], dtype=object), unit="value")
    assert subtitle(Plots(regression).bar()).startswith("kernel_shap: value ")


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "3"])
def test_counts_are_checked(values, wrong):
    plots = Plots(Explained(values))
    for plot in (plots.bar, plots.beeswarm, lambda **most: plots.waterfall(0, **most)):
        with pytest.raises(ValueError, match="most: expected a whole number of 1 or more, found"):
            plot(most=wrong)
    with pytest.raises(ValueError, match="rows: expected a whole number of 1 or more, found"):
        plots.beeswarm(rows=wrong)


# beeswarm


def test_a_swarm_has_each_rows_value_and_cell(values):
    cells = np.random.default_rng(1).integers(0, 9, size=values.shape).astype(np.float32)
    ids = [f"id-{row}" for row in range(60)]
    figure = Plots(Explained(values, data=cells, ids=ids)).beeswarm(most=3)
    order = np.argsort(-np.abs(values.astype(float)).mean(axis=0))[:3]
    assert ticks(figure) == [NAMES[place] for place in order] == ["sex", "weight", "income"]
    assert len(figure.data) == 3
    for line, (points, place) in enumerate(zip(figure.data, order, strict=True)):
        assert list(points.x) == list(values[:, place])
        assert list(points.customdata) == list(cells[:, place])
        assert list(points.text) == ids
        assert points.hovertemplate.startswith(f"{NAMES[place]} = %{{customdata")
        assert np.all(np.abs(points.y - line) <= 0.4) and len(set(np.round(points.y, 6))) > 1
        ranks = pandas.Series(cells[:, place]).rank(method="average")
        close(points.marker.color, (ranks - 1) / 59)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 1)
    assert figure.layout.coloraxis.showscale
    assert "the 3 largest of 5 features" in subtitle(figure)


def test_missing_cells_are_grey_and_open_and_columns_of_one_value_grey(values):
    cells = np.zeros(values.shape, dtype=np.float32)
    cells[:, 1] = np.arange(60)
    cells[[4, 9], 1] = np.nan
    missing, ranked, *constant = Plots(Explained(values, data=cells)).beeswarm().data
    assert list(missing.x) == list(values[[4, 9], 1]) and missing.marker.symbol == "circle-open"
    assert list(missing.text) == ["row 4", "row 9"]
    assert list(ranked.text)[3:6] == ["row 3", "row 5", "row 6"]
    assert missing.marker.color == "#808080" and missing.hovertemplate.startswith("sex missing")
    assert list(ranked.x) == list(np.delete(values[:, 1], [4, 9]))
    close(ranked.marker.color, np.arange(58) / 57)
    assert [points.marker.color for points in constant] == ["#808080"] * 4
    assert "missing" in subtitle(Plots(Explained(values, data=cells)).beeswarm())


def test_grouped_columns_have_no_colours(values):
    for data in (None, np.zeros((60, 9), dtype=np.float32)):
        figure = Plots(Explained(values, data=data)).beeswarm()
        assert {points.marker.color for points in figure.data} == {"#0072b2"}
        assert all(points.customdata is None for points in figure.data) and not figure.layout.coloraxis.showscale


def test_text_is_shown_without_colours_and_numbers_beside_it_with_them(values):
    cells = np.full(values.shape, "<red>", dtype=object)
    cells[:, 1] = range(60)
    explained = complete(values, data=cells)
    sex, weight, *_ = Plots(explained).beeswarm().data
    close(sex.marker.color, np.arange(60) / 59)
    assert weight.marker.color == "#808080" and set(weight.customdata) == {"&lt;red&gt;"}
    assert {"sex = 0", "weight = &lt;red&gt;"} < set(ticks(Plots(explained).waterfall(0)))


def test_quantiles_are_mean_ranks():
    column = np.array([3, 1, np.nan, 1, 7, 1, 3], dtype=np.float32)
    # Of six cells 1, 1, 1, 3, 3, 7 the ranks from 0 are 0 1 2, 3 4, 5: their means 1, 3.5, 5, over 5.
    np.testing.assert_allclose(quantiles(column), [0.7, 0.2, np.nan, 0.2, 1.0, 0.2, 0.7], rtol=1e-6)
    assert np.isnan(quantiles(np.full(4, 2.0))).all() and np.isnan(quantiles(np.full(4, np.nan))).all()


def test_points_of_a_bin_stand_one_above_the_other():
    x = np.array([0.0] * 5 + [10.0])
    heights = spread(x, 0.0, 10.0, np.random.default_rng(0))
    np.testing.assert_allclose(np.sort(heights[:5]), 0.06 * np.arange(-2, 3), atol=1e-7)
    assert heights[5] == 0
    many = spread(np.zeros(4000), 0.0, 0.0, np.random.default_rng(0))
    assert len(np.unique(many)) == 4000 and 0.39 < np.abs(many).max() <= 0.4


def test_of_many_rows_a_stated_sample_is_drawn():
    generator = np.random.default_rng(3)
    values = generator.normal(size=(10_000, 12)).astype(np.float32)
    targets = np.array(["first class", "second class"], dtype=object)[generator.integers(0, 2, 10_000)]
    ids = [f"customer {row}" for row in range(10_000)]
    explained = Explained(values, data=values.copy(), ids=ids, target=targets, target_names=["first class"])
    figure = Plots(explained).beeswarm()
    assert "a random sample of 2,000 of 10,000 rows" in subtitle(figure) and "targets differ" in subtitle(figure)
    assert len(figure.to_json()) < 2_000_000
    row_of = {identity: row for row, identity in enumerate(ids)}
    points = figure.data[0]
    names, of = zip(*(text.split(", ") for text in points.text), strict=True)
    rows = [row_of[name] for name in names]
    assert len(set(rows)) == 2000 and list(of) == list(targets[rows])
    place = explained.features.index(ticks(figure)[0])
    assert list(points.x) == list(values[rows, place])
    # Colours are places among all rows, not among those drawn.
    close(points.marker.color, ((pandas.Series(values[:, place]).rank() - 1) / 9999)[rows])
    assert Plots(explained).beeswarm() == figure
    assert Plots(explained).beeswarm(seed=1) != figure
    one = Plots(explained).beeswarm(rows=50, target="second class", most=1)
    assert len(one.data[0].x) == 50 and "targets differ" not in subtitle(one)
    assert f"50 of {np.sum(targets == 'second class'):,} rows" in subtitle(one)


# waterfall


def complete(values, **more):
    base = np.linspace(-1, 1, len(values))
    return Explained(values, base=base, output=base + values.sum(axis=1, dtype=float), **more)


def test_a_waterfall_leads_from_base_to_output(values):
    explained = complete(values, data=np.round(values, 1))
    figure = Plots(explained).waterfall(4)
    connectors, bars, ends = figure.data
    order = np.argsort(-np.abs(values[4]))
    close(bars.x, values[4, order])
    close(bars.base, explained.base[4] + np.concatenate([[0], np.cumsum(values[4, order].astype(float))[:-1]]))
    close(ends.x, [explained.base[4], explained.output[4]])
    assert list(ends.y) == [0, 6] and list(bars.y) == [1, 2, 3, 4, 5]
    assert list(bars.marker.color) == ["#d55e00" if value > 0 else "#0072b2" for value in values[4, order]]
    assert bars.error_x.array is None
    label = f"{NAMES[order[0]]} = {np.round(values, 1)[4, order[0]]:.4g}".replace("-", "\N{MINUS SIGN}")
    assert ticks(figure)[:2] == ["base", label] and ticks(figure)[-1] == "output"
    numbers = [note.text.replace("\N{MINUS SIGN}", "-") for note in figure.layout.annotations]
    close(numbers, [float(f"{x:.4g}") for x in (explained.base[4], *values[4, order], explained.output[4])])
    # Each line between two bars stands where one ends and the other starts.
    close(connectors.x[0::3], [*bars.base, explained.output[4]])
    assert "row 4" in subtitle(figure) and "gap" not in subtitle(figure)


def test_small_features_are_summed_and_whiskers_are_standard_errors(values):
    errors = np.abs(values) / 10
    figure = Plots(complete(values, standard_error=errors)).waterfall(0, most=3)
    _, sampled, summed, ends = figure.data
    order = np.argsort(-np.abs(values[0]))
    close(sampled.x, values[0, order[:3]])
    close(sampled.error_x.array, errors[0, order[:3]])
    close(summed.x, [values[0, order[3:]].astype(float).sum()])
    assert summed.error_x.array is None and ticks(figure)[-2] == "2 other features"
    close(summed.base[0] + summed.x[0], ends.x[1])
    assert "whiskers" in subtitle(figure) and "±" in sampled.hovertext[0]
    exact = Plots(complete(values, standard_error=np.zeros_like(values))).waterfall(0)
    assert exact.data[1].error_x.array is None and "whiskers" not in subtitle(exact)


def test_what_attributions_leave_unexplained_is_a_bar(values):
    explained = complete(values)
    explained.output = explained.output + 0.25
    figure = Plots(explained).waterfall(2)
    bars, ends = figure.data[1], figure.data[2]
    assert ticks(figure)[-2:] == ["gap", "output"] and bars.marker.color[-1] == "#808080"
    close(bars.x[-1], 0.25)
    close([bars.base[-1] + bars.x[-1], ends.x[1]], [explained.output[2]] * 2)
    assert "gap" in subtitle(figure)
    explained.output = explained.output - 0.25 + 1e-6
    assert "gap" not in ticks(Plots(explained).waterfall(2))


def test_without_a_base_bars_start_at_0_and_end_at_their_sum(values):
    explained = Explained(values, output=np.full(60, 0.75), _core=types.SimpleNamespace(combination={"relative": True}))
    figure = Plots(explained).waterfall(1)
    assert ticks(figure)[0] == "0 (no base)" and ticks(figure)[-1] == "sum"
    close(figure.data[2].x, [0, values[1].sum(dtype=float)])
    assert "no base value: bars start at 0" in subtitle(figure) and "the output is 0.75" in subtitle(figure)
    assert figure.layout.xaxis.title.text == "sum of attributions (relative, without unit)"
    based = Plots(Explained(values, base=np.ones(60))).waterfall(1)
    close(based.data[2].x, [1, 1 + values[1].sum(dtype=float)])
    assert ticks(based)[-1] == "sum" and "the output is not known" in subtitle(based)


def test_rows_are_found_by_number_and_by_id(values):
    plots = Plots(complete(values, ids=[f"id-{row}" for row in range(58)] + ["twice", "twice"]))
    assert plots.waterfall(-3) == plots.waterfall(57) == plots.waterfall("id-57") == plots.waterfall(np.int64(57))
    assert "id-57 (row 57)" in subtitle(plots.waterfall(57))
    for row in (60, -61):
        for plot in (plots.waterfall, plots.image):
            with pytest.raises(IndexError, match=f"row: expected -60 to 59, found {row}"):
                plot(row)
    with pytest.raises(ValueError, match="row: expected an id of the explanations, found 'nobody'"):
        plots.waterfall("nobody")
    with pytest.raises(ValueError, match="row: expected the id of one row, found that of 58 and 59, 'twice'"):
        plots.waterfall("twice")
    with pytest.raises(ValueError, match="have no ids"):
        Plots(complete(values)).waterfall("id-1")
    for row in (1.0, True, None):
        with pytest.raises(ValueError, match="row: expected the number or the id of a row, found"):
            plots.waterfall(row)


def test_an_undefined_row_has_no_waterfall(values):
    values[5, 1:4] = np.nan
    with pytest.raises(ValueError, match=r"row 5: .* found NaN for 'sex' and 2 other features"):
        Plots(complete(values)).waterfall(5)


# image


def test_an_image_stands_beside_the_map_of_its_attributions():
    generator = np.random.default_rng(2)
    values, pixels = generator.normal(size=(2, 12)).astype(np.float32), generator.uniform(0, 255, (2, 12))
    figure = Plots(Explained(values, data=pixels, item_shape=(3, 4))).image(1)
    picture, attributions = figure.data
    close(picture.z, pixels[1].reshape(3, 4))
    close(attributions.z, values[1].reshape(3, 4))
    assert attributions.zmin == -attributions.zmax == -np.abs(values[1]).max()
    assert attributions.colorscale[0][1] == "#0072b2" and attributions.colorscale[-1][1] == "#d55e00"
    assert figure.layout.yaxis.range == (2.5, -0.5)  # the first row above
    assert len(Plots(Explained(values, item_shape=(3, 4))).image(1).data) == 1


def test_channels_come_first_or_last_and_are_summed():
    values = np.arange(90, dtype=np.float32).reshape(1, 90) - 45
    pixels = np.linspace(0, 1, 90, dtype=np.float32).reshape(1, 90)
    first = Explained(values, data=pixels, item_shape=(3, 6, 5))
    last = Explained(
        values.reshape(3, 6, 5).transpose(1, 2, 0).reshape(1, 90),
        data=pixels.reshape(3, 6, 5).transpose(1, 2, 0).reshape(1, 90),
        item_shape=(6, 5, 3),
    )
    for explained in (first, last):
        picture, attributions = Plots(explained).image(0).data
        close(attributions.z, values.reshape(3, 6, 5).sum(axis=0))
        assert picture.type == "image"
        expected = np.rint(255 * pixels.astype(float)).reshape(3, 6, 5).transpose(1, 2, 0)
        assert np.array_equal(np.asarray(picture.z), expected)
        picture, attributions = Plots(explained).image(0, channel=2).data
        close(attributions.z, values.reshape(3, 6, 5)[2])
        close(picture.z, pixels.reshape(3, 6, 5)[2])
        for wrong in (3, -1, True, "red"):
            with pytest.raises(ValueError, match="channel: expected a whole number of 0 to 2, found"):
                Plots(explained).image(0, channel=wrong)


@pytest.mark.parametrize("known", [(2, 5, 7), ()])
def test_squares_are_painted_on_their_pixels(known):
    names = [f"rows {r}-{min(r + 2, 4)}, columns {c}-{min(c + 2, 6)}" for r in (0, 3) for c in (0, 3, 6)]
    values = np.array([[1, -2, 3, -4, 5, -6]], dtype=np.float32)
    core = types.SimpleNamespace(subject=types.SimpleNamespace(data=types.SimpleNamespace(item_shape=list(known))))
    explained = Explained(values, features=names, data=np.ones((1, 70)), _core=core if known else None)
    picture, attributions = Plots(explained).image(0).data
    assert np.asarray(picture.z).shape == (5, 7)
    close(attributions.z, values.reshape(2, 3)[np.array([0, 0, 0, 1, 1])][:, np.array([0, 0, 0, 1, 1, 1, 2])])
    strongest = np.asarray(Plots(explained).image(0, most=1).data[1].z)
    assert np.isnan(strongest).sum() == 33 and np.all(strongest[3:, 6:] == -6)
    with pytest.raises(ValueError, match="channel: expected none, for squares have all channels"):
        Plots(explained).image(0, channel=0)
    with pytest.raises(ValueError, match="squares within 5 x 6 pixels, found rows 0-2, columns 6-6"):
        Plots(Explained(values, features=names, item_shape=(5, 6))).image(0)


def test_only_the_strongest_pixels_and_those_that_are_defined():
    values = np.array([[1, -9, np.nan, 4, 0, 2]], dtype=np.float32)
    figure = Plots(Explained(values, item_shape=(2, 3))).image(0, most=2)
    np.testing.assert_array_equal(figure.data[0].z, [[np.nan, -9, np.nan], [4, np.nan, np.nan]])
    assert "the 2 strongest of 6 pixels" in subtitle(figure) and "1 undefined pixel left empty" in subtitle(figure)
    assert Plots(Explained(np.zeros((1, 4)), item_shape=(2, 2))).image(0).data[0].zmax == 1
    with pytest.raises(ValueError, match="row 0: expected a row with defined attributions"):
        Plots(Explained(np.full((1, 4), np.nan), item_shape=(2, 2))).image(0)


@pytest.mark.parametrize("shape", [(), (5,), (2, 2), (1, 1, 1, 5)])
def test_rows_that_are_no_images_are_refused(values, shape):
    with pytest.raises(ValueError, match=r"item_shape \(height, width\), \(channels, height, width\) or"):
        Plots(Explained(values, item_shape=shape)).image(0)


# text from outside

HOSTILE = ["<b>bold</b>", "<a href='javascript:alert(1)'>x</a>", "$x^2$ and $y$", "%{y} %{fullData}", "one\ntwo<br>"]
TAGS = r'<br>|<span style="font-size: 12px">|</span>|<extra></extra>|'
OURS = re.compile(TAGS + r"row %\{y\}|%\{(x|z|text|customdata)(:[^{}<]*)?\}")


def strings(part):
    if isinstance(part, dict):
        for name, each in part.items():
            if name != "template":
                yield from strings(each)
    elif isinstance(part, list):
        for each in part:
            yield from strings(each)
    elif isinstance(part, str):
        yield part


def test_names_from_outside_stay_text(values):
    explained = complete(
        values,
        features=HOSTILE,
        data=values.copy(),
        ids=[f"{HOSTILE[row % 5]}{row}" for row in range(60)],
        target=np.array(HOSTILE * 12, dtype=object),
        target_names=HOSTILE,
        unit="<i>unit</i>",
        method="<i>method</i>",
        provenance={"model": "<i>model</i> $m$", "target": "<i>target</i>"},
    )
    plots = Plots(explained)
    explained.item_shape = (1, 5)
    for figure in (plots.bar(), plots.beeswarm(), plots.waterfall(0), plots.image(0)):
        told = list(strings(json.loads(figure.to_json())["data"])) + list(strings(figure.layout.to_plotly_json()))
        assert any("&lt;i&gt;" in text for text in told)
        for text in told:
            left = OURS.sub("", text)
            assert not re.search(r"[<>$\n]|%\{", left), text
    labels = [html.unescape(label) for label in ticks(plots.bar())]
    assert {"<b>bold</b>", "$x^2$ and $y$", "one\\x0atwo<br>"} <= set(labels)


def test_equal_and_long_names_have_lines_of_their_own():
    long = [f"a name that is much too long for a phone, {end}" for end in ("first", "second")]
    figure = Plots(Explained([[1, 2, 3, 4]], features=["same", "same", *long])).bar()
    assert len(figure.layout.yaxis.tickvals) == 4 == len(figure.data[0].y)
    assert ticks(figure)[2:] == ["same", "same"]
    assert ticks(figure)[0].endswith("second") and ticks(figure)[1].endswith("first")
    assert all(len(label) <= 24 for label in ticks(figure))
    assert long[1] in figure.data[0].hovertext[0]


# the package


def test_without_plotly_plots_say_how_to_get_it(values, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    plots = Plots(Explained(values))
    for plot in (plots, plots.bar, plots.beeswarm, lambda: plots.waterfall(0), lambda: plots.image(0)):
        with pytest.raises(ImportError, match=re.escape("plots need plotly: pip install assay-xai[plots]")):
            plot()


def test_explanations_have_plots(values):
    explained = Explanations.from_array(
        values, features=NAMES, base=0.5, output=0.5 + values.sum(axis=1), target="yes", data=values, ids=range(60)
    )
    close(explained.plot().data[0].x, np.sort(np.abs(values.astype(float)).mean(axis=0))[::-1])
    close(explained.plot.waterfall("7").data[2].x, [0.5, 0.5 + values[7].sum()])
    assert len(explained.plot.beeswarm().data) == 5
    pictures = Explanations.from_array(values[:, :4].reshape(60, 2, 2), data=values[:, :4].reshape(60, 2, 2))
    close(pictures.plot.image(3).data[1].z, values[3, :4].reshape(2, 2))


def test_the_page_about_plots_runs(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (root / "docs" / "python-plots.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(snippets) == 6
    said = {}
    exec("\n".join(snippets), said)
    assert len(said["e"]) == 30 and (tmp_path / "bar.html").stat().st_size > 1000
