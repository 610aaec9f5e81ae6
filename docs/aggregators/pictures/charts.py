"""Pictures of aggregators that are not about a single plane of two features: ranks, weights, rows and trade-offs."""

from __future__ import annotations

import math

from canvas import FAINT, INK, MEMBERS, QUIET, RESULT, Canvas, Point, mixed
from program import Program

# Features p to s from the first place to the last, by each of five members. The three methods disagree on these.
ORDERS = ["qrsp", "qspr", "spqr", "pqrs", "pqrs"]
RANKED = "pqrs"

HEADER = ["x1", "x2", "class"]

# Beside which other aggregate of pareto's picture which names stand, and where in pixels; the rest of the squares are
# hidden: of two members every centroid is the mean.
BESIDE = {
    "gradient_descent_style": (["gradient_descent_style,", "shrink_then_descend"], -5, 13, "start"),
    "region_shrinking": (["region_shrinking,", "minimum_complexity"], 7, -11, "start"),
    "closest_simple": (["closest_simple"], 0, -10, "middle"),
    "mean": (["mean"], 5, 12, "start"),
    "borda": (["kemeny_young,", "borda, copeland"], 36, -22, "end"),
}

IRIS = ("--model", "model.onnx", "--data", "iris", "--split", "test", "--pool", "iris", "--pool-split", "train")


class Chart(Canvas):
    """A frame with ticks; points are in units of its two scales."""

    LEFT, RIGHT, TOP, BOTTOM = 58, 340, 34, 256

    def __init__(self, title: str, description: str, across: tuple[str, list[float]], up: tuple[str, list[float]]):
        """Each scale is its words and its ticks, from end to end."""
        super().__init__(title, description)
        (self._across, ticks_across), (self._up, ticks_up) = across, up
        self._low = (ticks_across[0], ticks_up[0])
        self._high = (ticks_across[-1], ticks_up[-1])
        for tick in ticks_across:
            x = self.pixel((tick, self._low[1]))[0]
            self.line((x, self.TOP), (x, self.BOTTOM), FAINT, 0.6)
            self.text((x, self.BOTTOM + 13), f"{tick:g}", QUIET, "middle")
        for tick in ticks_up:
            y = self.pixel((self._low[0], tick))[1]
            self.line((self.LEFT, y), (self.RIGHT, y), FAINT, 0.6)
            self.text((self.LEFT - 7, y), f"{tick:g}", QUIET, "end")
        self.text(((self.LEFT + self.RIGHT) / 2, self.BOTTOM + 28), self._across, QUIET, "middle")
        self.text((14, self.TOP - 17), self._up, QUIET)

    def pixel(self, point: Point) -> Point:
        share = [(point[k] - self._low[k]) / (self._high[k] - self._low[k]) for k in (0, 1)]
        return (self.LEFT + share[0] * (self.RIGHT - self.LEFT), self.BOTTOM - share[1] * (self.BOTTOM - self.TOP))


def ticks(values: list[float], step: float) -> list[float]:
    """Multiples of the step around all values."""
    low, high = math.floor(min(values) / step), math.ceil(max(values) / step)
    return [round(k * step, 6) for k in range(low, high + 1)]


def ranks(program: Program, name: str, result: str, title: str, description: str, last: str = "") -> str:
    """The last column is on the scale of places, or has a scale of its own: numbers beside it from the top."""
    votes = [[len(RANKED) - order.index(feature) for feature in RANKED] for order in ORDERS]
    (scores,) = program.aggregates(votes, name)
    places = [len(RANKED) + 1 - score * len(RANKED) for score in scores]
    labels = {place: ", ".join(p for p, own in zip(RANKED, places, strict=True) if own == place) for place in places}
    canvas = Canvas(
        f"{name}: five rankings of four features, and {title}",
        "Five columns, g1 to g5, rank the features p, q, r and s from the first place to the last; lines join the "
        f"places of each feature. {description} From the top: {'; '.join(labels[key] for key in sorted(labels))}.",
    )
    columns = [72 + 44 * j for j in range(len(ORDERS))] + [292 if last else 304]

    def height(place: float) -> float:
        return 66 + 70 * (place - 1)

    canvas.text((14, height(1) - 32), "place", QUIET)
    for place in range(1, len(RANKED) + 1):
        canvas.text((26, height(place)), str(place), QUIET)
        canvas.line((50, height(place)), (322, height(place)), FAINT, 0.6)
    for j in range(len(ORDERS)):
        canvas.text((columns[j], height(1) - 32), f"g{j + 1}", QUIET, "middle")
    if last:
        canvas.text((350, height(1) - 32), result, RESULT, "end")
        for place, number in enumerate(last, 1):
            canvas.text((350, height(place)), number, RESULT, "end")
    else:
        canvas.text((columns[-1], height(1) - 32), result, RESULT, "middle")
    for feature, place, colour in zip(RANKED, places, MEMBERS, strict=False):
        heights = [*(height(order.index(feature) + 1) for order in ORDERS), height(place)]
        canvas.path(list(zip(columns, heights, strict=True)), colour, 2)
        for x, y in list(zip(columns, heights, strict=True))[:-1]:
            canvas.add("circle", cx=x, cy=y, r=9, fill=colour)
            canvas.text((x, y - 0.5), feature, "#ffffff", "middle")
    for place, label in labels.items():
        canvas.dot((columns[-1], height(place)), radius=6)
        canvas.text((columns[-1] + 12, height(place)), label, RESULT, font_weight="bold")
    return canvas.svg()


def kemeny_young(program: Program) -> str:
    return ranks(
        program,
        "kemeny_young",
        "least cost",
        "the order that disagrees least with them",
        "The last column is the order that disagrees least with them.",
    )


def borda(program: Program) -> str:
    return ranks(
        program,
        "borda",
        "mean place",
        "the mean place of each",
        "In the last column each feature is at the mean of its places.",
    )


def copeland(program: Program) -> str:
    return ranks(
        program,
        "copeland",
        "wins",
        "how many others each beats",
        "In the last column features stand by their wins, from 3 at the top to 0: how many others most members rank "
        "behind them.",
        "3210",
    )


def scattered(count: int) -> list[tuple[float, float, str]]:
    """Rows of two classes, the same everywhere: a sequence that fills the square evenly."""
    rows = []
    for k in range(1, count + 1):
        x, y = (k * 0.7548776662) % 1, (k * 0.5698402910) % 1
        rows.append((round(x, 3), round(y, 3), "up" if y > 0.25 + 0.5 * x * x + 0.1 * math.sin(9 * x) else "down"))
    return rows


def train_on(program: Program, rows: list[tuple[float, float, str]]) -> None:
    """A small network for rows.csv, model.onnx."""
    program.write("rows.csv", HEADER, rows)
    how = ("--hidden", "8", "--training", "epochs=200:rate=0.02")
    program.run("--quiet", "train", "--data", "rows.csv", "--label", "class", *how, "--out", "model.onnx")


def convex_min(program: Program) -> str:
    rows = scattered(60)
    train_on(program, rows)
    turned = {"g1.csv": [2 * x for x, _, _ in rows], "g2.csv": [1 + 1.6 * y for _, y, _ in rows]}
    for name, angles in turned.items():
        program.write(name, HEADER[:2], [(math.cos(angle), math.sin(angle)) for angle in angles])
    members = ",".join(turned)
    given = ("--model", "model.onnx", "--data", "rows.csv", "--label", "class", "--pool", "rows.csv")
    common = ("aggregate", "--members", members, "--pool-members", members, *given)
    shares = [k / 20 for k in range(21)]
    mixtures = ",".join(f"convex:weights=[{1 - share:g},{share:g}]" for share in shares)
    made = program.json(*common, "--aggregator", mixtures, "--out", "mix.npz", "--pool-out", "mixpool.npz")["results"]
    outs, pools = (",".join(each[key] for each in made) for key in ("out", "pool_out"))
    scored = program.json(
        "evaluate", "--explanations", outs, "--pool-explanations", pools, *given, "--criteria", "avg_sensitivity"
    )
    curve = [score["mean"] for score in scored["scores"]]
    (learnt,) = program.json(*common, "--aggregator", "convex_min")["results"]
    (_, (share, *_), (_, least, *_)) = learnt["tables"][0]["rows"]
    assert min(curve) - 0.01 < least <= min(curve) + 1e-6
    chart = Chart(
        "convex_min: average sensitivity of mixtures of two members, and the weight where it is least",
        "Average sensitivity of the mixture of two members, g1 that turns with one feature and g2 that turns with "
        "the other, as the weight of g2 grows from 0 to 1: a convex curve, lower in between than for either member. "
        "convex_min finds the weight where it is least.",
        ("weight of g2", [0, 0.25, 0.5, 0.75, 1]),
        ("average sensitivity", ticks([0, *curve], 0.05)),
    )
    points = [chart.pixel(point) for point in zip(shares, curve, strict=True)]
    chart.path(points, INK, 2)
    for at, colour, words, anchor in ((points[0], MEMBERS[0], "g1", 9), (points[-1], MEMBERS[1], "g2", -23)):
        chart.dot(at, colour)
        chart.text((at[0] + anchor, at[1] - 9), words, colour)
    lowest = chart.pixel((share, least))
    chart.line(lowest, (lowest[0], chart.BOTTOM), RESULT, 1.2, stroke_dasharray="4 3")
    chart.dot(lowest)
    chart.legend([("dot", f"convex_min: weight {share:.2f}")])
    return chart.svg()


def ava(program: Program) -> str:
    rows, query = scattered(60), (0.52, 0.56, "up")
    train_on(program, rows)
    program.write("query.csv", HEADER, [query])
    given = ("--model", "model.onnx", "--data", "query.csv", "--label", "class", "--pool", "rows.csv")
    (made,) = program.json("aggregate", "--aggregator", "ava:k=6:rho=l2", *given)["results"]
    antecedents, weights = made["antecedents"][0], made["weights"][0]
    assert abs(sum(weights) - 1) < 1e-5 and weights == sorted(weights, reverse=True)
    chart = Chart(
        "ava: a row among training rows, joined to the nearest of them by lines as wide as their weights",
        "Training rows as dots in the plane of two features, coloured by class. Lines join the query to its six "
        "nearest rows, its antecedents; the wider the line, the more the explanation of that row counts.",
        ("x1", [0, 0.25, 0.5, 0.75, 1]),
        ("x2", [0, 0.25, 0.5, 0.75, 1]),
    )
    at = chart.pixel((query[0], query[1]))
    for row, weight in zip(antecedents, weights, strict=True):
        chart.line(at, chart.pixel(rows[row - 1][:2]), RESULT, 30 * weight, stroke_opacity="0.5")
    for k, (x, y, label) in enumerate(rows, 1):
        colour = MEMBERS[0] if label == "up" else MEMBERS[1]
        if k in antecedents:
            chart.dot(chart.pixel((x, y)), colour, 5)
        else:
            chart.dot(chart.pixel((x, y)), mixed("#ffffff", colour, 0.5), 3.5)
    chart.dot(at, radius=6.5)
    chart.legend([("dot", "query and its antecedents"), ("", "width: weight")])
    return chart.svg()


def pareto(program: Program) -> str:
    names = ("gradient", "occlusion")
    program.run("--quiet", "train", "--data", "iris", "--hidden", "16", "--out", "model.onnx")
    program.run("--quiet", "explain", *IRIS, "--method", ",".join(names), "--out", "phi.npz")
    members = ",".join(f"phi.{name}.npz" for name in names)
    (made,) = program.json("aggregate", "--members", members, *IRIS, "--aggregator", "pareto:points=60")["results"]
    tables = {table["name"]: table for table in made["tables"]}
    front = [row[len(names) :] for row in tables["front"]["rows"]]
    placed = dict(zip(tables["placed"]["labels"], tables["placed"]["rows"], strict=True))
    others = [row for label, row in placed.items() if label not in names and None not in row[:3]]
    shown = [*front, *others, *(placed[name] for name in names)]
    faithful = [row[0] for row in front]
    chart = Chart(
        "pareto: complexity and sensitivity of the front's mixtures, the members and other aggregates",
        "Complexity across, average sensitivity up, both better when lower. Dots are the mixtures on the front, darker "
        "where they are more faithful; the one that was picked, the members and other aggregates are marked and named.",
        ("complexity", ticks([row[2] for row in shown], 0.2)),
        ("average sensitivity", ticks([row[1] for row in shown], 0.1)),
    )
    for row in others:
        chart.square(chart.pixel((row[2], row[1])), QUIET, 2.5)
    for value, sensitivity, complexity, _ in sorted(front):
        share = (value - min(faithful)) / (max(faithful) - min(faithful))
        chart.dot(chart.pixel((complexity, sensitivity)), mixed("#d5dde5", "#1f3a56", share), 3.5)
    for name, (lines, right, down, anchor) in BESIDE.items():
        at = chart.pixel((placed[name][2], placed[name][1]))
        chart.square(at, QUIET, 2.5)
        for j, words in enumerate(lines):
            chart.text((at[0] + right, at[1] + down + 11 * j), words, QUIET, anchor, font_size=10)
    for name, colour in zip(names, MEMBERS, strict=False):
        at = chart.pixel((placed[name][2], placed[name][1]))
        chart.dot(at, colour)
        if name == names[0]:
            chart.text((at[0], at[1] + 16), name, colour, "middle")
        else:
            chart.text((at[0] + 10, at[1]), name, colour)
    chart.dot(next(chart.pixel((row[2], row[1])) for row in front if row[3] == 1))
    chart.legend([("dot", "picked"), ("square", "other aggregates"), ("", "darker: faithful")])
    return chart.svg()
