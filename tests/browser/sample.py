"""Report pages of any size for the tests: data of the schema assay.report/1, put into the page's template."""

import html
import json
import math
import random
import re
from pathlib import Path

from sample_cohorts import cohorts_of

FOLDER = Path(__file__).resolve().parents[2] / "assay" / "report" / "html"

METHODS = (
    "exact_shapley", "kernel_shap", "shapley_sampling", "integrated_gradients", "gradient", "gradient_x_input",
    "smooth_grad", "deeplift", "deeplift_reveal_cancel", "occlusion", "lime",
)  # fmt: skip
AGGREGATES = (
    "mean", "median", "centroid", "geometric_median", "borda", "copeland", "kemeny_young", "convex", "convex_min",
    "region_shrinking", "gradient_descent_style", "shrink_then_descend", "minimum_complexity", "closest_simple", "ava",
    "pareto",
)  # fmt: skip
CRITERIA = (
    ("faithfulness", "higher", "-1 to 1", True),
    ("max_sensitivity", "lower", "0 and up", True),
    ("avg_sensitivity", "lower", "0 and up", True),
    ("complexity", "lower", "0 to log(features)", True),
    ("sparseness", "higher", "0 to 1", False),
    ("infidelity", "lower", "0 and up", False),
    ("rank_correlation", "neither", "-1 to 1", False),
)
CURVES = (("max_sensitivity", "radius", [0.1, 0.2, 0.5]), ("faithfulness", "subset", [1, 2, 3, 4]))
FEATURES = ("age", "heart_rate", "systolic_blood_pressure", "temperature", "urine_output", "sodium", "potassium")


def short(value):
    """Six significant digits, as the program writes them."""
    return float(f"{value:.6g}")


def score(draw, criterion, place):
    """One entry's score by one criterion."""
    if place == 4 and criterion == "infidelity":
        blank = dict.fromkeys(("mean", "stderr", "low", "high", "behind_low", "behind_high"))
        return blank | {"coverage": 0.0, "standing": "undefined", "reason": "needs completeness, which it lacks"}
    mean, stderr = draw.uniform(0.1, 0.95), draw.uniform(0.002, 0.03)
    whole = {"mean": short(mean), "stderr": short(stderr), "low": short(mean - 1.96 * stderr)}
    whole |= {"high": short(mean + 1.96 * stderr), "coverage": 1.0 if place % 5 else 0.934, "standing": "worse"}
    behind = draw.uniform(0, 0.5)
    return whole | {"behind_low": short(behind - 0.1), "behind_high": short(behind + 0.1), "reason": None}


def entries_of(draw, count):
    """`count` entries, methods first, each criterion with a best or two tied."""
    methods = (count + 1) // 2
    entries = []
    for index in range(count):
        kind, names = ("method", METHODS) if index < methods else ("aggregate", AGGREGATES)
        place = index if index < methods else index - methods
        name = names[place % len(names)] + ("" if place < len(names) else f":n={place}")
        scores = [score(draw, criterion[0], index) for criterion in CRITERIA]
        entry = {"name": name, "kind": kind, "title": f"the {kind} {name}", "dominated": index == 2}
        entry |= {"dominated_by": "exact_shapley" if index == 2 else None, "evaluations": 1000 * (index + 1) ** 2}
        # The third is not faithful, the fourth undecided, aggregates by ranks have no signs, the fifth says what the
        # second says.
        entry |= {"faithful": {2: "no", 3: "undecided"}.get(index, "yes"), "alias_of": 1 if index == 4 else None}
        entry |= {"complete": kind == "method" and index != 3, "exact": index not in (1, 2)}
        entry["has_signs"] = name.split(":")[0] not in ("borda", "copeland", "kemeny_young")
        entries.append(entry | {"seconds": short(draw.random() * 3) if index else None, "scores": scores})
    for place, (_, direction, _, _) in enumerate(CRITERIA):
        if direction == "neither":
            continue
        order = [entry["scores"][place] for entry in entries if entry["scores"][place]["mean"] is not None]
        order.sort(key=lambda one: one["mean"], reverse=direction == "higher")
        marks = ["best"] if place % 2 else ["tied", "tied"]
        for one, mark in zip(order, marks, strict=False):
            one["standing"] = mark
    return entries


def row_of(draw, number, data, cells):
    """One shown row; every seventh has an entry without attributions."""
    count, size = len(data["entries"]), len(data["features"])
    centre = [draw.gauss(0, 1) / (1 + feature % 40) for feature in range(size)]
    values = [[short(value + draw.gauss(0, 0.1)) for value in centre] for _ in range(count)]
    if number % 7 == 0:
        values[-1] = None
    errors = [[short(abs(draw.gauss(0, 0.05))) for _ in centre] if entry in (1, 2) else None for entry in range(count)]
    target = ("healthy", "septic")[number % 2]
    row = {"number": number, "id": f"patient-{number:04}", "target": target, "label": "septic", "predicted": target}
    row |= {"values": values, "errors": errors, "probability": short(0.5 + draw.random() / 2)}
    row["target_probability"] = row["probability"]
    row["base"] = [0.25 if entry["kind"] == "method" else None for entry in data["entries"]]
    row["output"] = short(0.25 + sum(values[0]))  # the first adds up
    row["scores"] = [[short(draw.random()) for _ in CRITERIA] for _ in range(count)]
    if cells and data["image"] is None:
        row["cells"] = [f"{draw.gauss(50, 20):.4g}" for _ in range(size)]
        for feature, levels in enumerate(data["levels"]):
            if levels:
                row["cells"][feature] = levels[draw.randrange(len(levels))]
        row["cell_scale"] = [short(draw.random()) if kind == "number" else None for kind in data["kinds"]]
    neighbours = [{"row": draw.randint(1, 500), "weight": short(0.3 / (k + 1))} for k in range(5)]
    if cells and data["image"] is None:
        neighbours = [one | {"cells": [f"{draw.gauss(50, 20):.4g}" for _ in range(size)]} for one in neighbours]
    row["antecedents"] = [{"entry": count - 1, "neighbours": neighbours}]
    if data["image"] and cells:
        height, width = data["image"]["height"], data["image"]["width"]
        ring = [math.hypot(y - height / 2, x - width / 2) for y in range(height) for x in range(width)]
        row["pixels"] = [255 if 6 < away < 9 else 0 for away in ring]
        for line in filter(None, values):
            for place, away in enumerate(ring):
                line[place] = short(draw.gauss(0.6 if 6 < away < 9 else -0.1 if away < 4 else 0, 0.15))
    return row


def sample(entries=8, rows=12, features=7, image=None, cells=True, seed=1):
    """The data of a report with so many entries, shown rows and features (or pixels of height x width)."""
    draw = random.Random(seed)
    if image:
        names = [f"pixel_{y}_{x}" for y in range(image[0]) for x in range(image[1])]
    else:
        names = [FEATURES[k] if k < len(FEATURES) else f"feature_{k + 1}" for k in range(features)]
    data = {"schema": "assay.report/1", "version": "0.1.0", "title": "sepsis.onnx on intensive care", "cells": cells}
    data["headline"] = "What drives sepsis.onnx, and which explanation to trust"
    data["sentences"] = [
        {"label": "Model", "text": "sepsis.onnx predicts 91 % of 6,000 rows right (95 % interval: 90 % to 92 %)."},
        {"label": "Drivers", "text": "The score (margin) of septic is driven most by age (41 % of all attribution)."},
        {"label": "Explanation", "text": "Use kernel_shap: it follows the model closely (faithfulness 0.96)."},
        {"label": "Cost", "text": "Explaining these 10,000 rows takes 4,000,000 runs of the model, 400 a row."},
        {"label": "Next", "text": "Read the 5 warnings below and look at the 900 rows that the model gets wrong."},
    ]
    data["quality"] = "accuracy 0.91 on 6,000 rows"
    data["explained"] = {"value": "the score (margin) of septic", "unit": "margin", "target": "the predicted class"}
    data["explained"] |= {"reference": "100 rows", "reference_value": 0.25, "reference_probability": 0.5621}
    data["explained"]["background"] = True
    data["verdict"] = ["For faithfulness use exact_shapley.", "For simplicity use region_shrinking."]
    data |= {"recommended": 1, "opened": 1, "margin": 0.05, "next": [], "summary_only": False}
    data["uses"] = {"overall": 1, "faithfulness": 1, "stability": 0, "simplicity": None}
    data["warnings"] = ["The ranking by max_sensitivity changes with the radius."]
    data["warnings"] += [f"Warning number {number} of this sample." for number in range(2, 6)]
    data["notes"] = ["kernel_shap was sampled: its standard errors are shown."]
    data["criteria"] = [
        {"name": name, "spec": f"{name}:subset=2" if name == "faithfulness" else name, "title": f"what {name} measures",
         "family": "a family", "direction": direction, "range": limits, "main": main, "words": name.replace("_", " "),
         "meaning": f"Does it do what {name} asks?" if main else "", "random": 0 if name == "faithfulness" else None,
         "perfect": {"higher": 1, "lower": 0}.get(direction), "end": None, "alike": name == "complexity"}
        for name, direction, limits, main in CRITERIA
    ]  # fmt: skip
    data["entries"] = entries_of(draw, entries)
    data["features"] = names
    data["kinds"] = ["category" if k in (2, 5) and not image else "number" for k in range(len(names))]
    some = (["high", "low"], ["salty", "very salty", "plain", "unknown"])
    data["levels"] = [some[k == 5] if kind == "category" else None for k, kind in enumerate(data["kinds"])]
    if not cells:
        data["levels"] = None
    sizes = sorted((short(0.5 / (1 + k)) for k in range(min(20, len(names)))), reverse=True)
    data["drivers"] = [
        {"feature": k, "size": size, "low": short(0.9 * size), "high": short(1.1 * size),
         "share": short(size / sum(sizes)),
         "direction": ("higher raises it", "no clear direction", "low raises it most, high lowers it most")[k % 3]}
        for k, size in enumerate(sizes)
    ]  # fmt: skip
    data["image"] = {"height": image[0], "width": image[1], "channels": 1} if image else None
    data["relative"] = [entry["kind"] == "aggregate" for entry in data["entries"]]
    means = [
        [[short(abs(draw.gauss(0, 1)) / (1 + k)) for k in range(len(names))] for _ in range(entries)] for _ in "ab"
    ]
    data["importance"] = [
        {"target": target, "rows": count, "mean_abs": mean,
         "low": [[short(0.9 * value) for value in line] for line in mean],
         "high": [[short(1.1 * value) for value in line] for line in mean]}
        for target, count, mean in zip(("healthy", "septic"), (4000, 6000), means, strict=True)
    ]  # fmt: skip
    if len(names) > 2 and not image:
        data["dependence"] = [{"feature": 0, "kind": "interaction", "partner": 1, "strength": 0.4}]
        data["dependence"] += [{"feature": names[1], "kind": "interaction", "partner": names[2], "strength": 0.2}]
    matrix = [[1.0 if a == b else short(draw.uniform(-0.3, 1)) for b in range(entries)] for a in range(entries)]
    matrix[0][-1] = matrix[-1][0] = None
    data["agreement"] = {"what": "Mean over rows of Spearman's correlation of absolute attributions.", "matrix": matrix}
    data["curves"] = [
        {"entry": entry, "criterion": criterion, "along": along, "x": xs, "error": [0.02] * len(xs),
         "mean": [short(draw.random()) for _ in xs], "coverage": [1.0] * (len(xs) - 1) + [0.9]}
        for criterion, along, xs in CURVES
        for entry in range(entries)
    ]  # fmt: skip
    data["cohorts"] = cohorts_of(len(names))
    data |= {"rows_total": 10000, "rows_shown": rows, "rows_words": f"{rows} of 10,000 rows, stratified by target"}
    data["rows"] = [row_of(draw, 3 * number + 1, data, cells) for number in range(rows)]
    data["facts"] = [["model", "sepsis.onnx"], ["rows", "10,000"], ["seed", "7"]]
    data["settings"] = [["methods", "all"], ["baseline", "median"]]
    data["inputs"] = [{"role": "model", "name": "sepsis.onnx", "sha256": "ab" * 32}]
    data["left_out"] = [{"kind": "method", "name": "deeplift", "reason": "the model has no gradients"}]
    data["run"] = [["threads", "2"], ["time", "41 s"]]
    return data


def assembled(data, plotly=""):
    """The page with the data in it, as the program puts it together: each marker once, in one pass."""
    script = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"title": html.escape(data["title"]), "style": (FOLDER / "page.css").read_text(encoding="utf-8")}
    parts |= {"plotly": plotly, "script": script, "data": text}
    template = (FOLDER / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(title|style|plotly|script|data)\}\}", lambda found: parts[found[1]], template)
