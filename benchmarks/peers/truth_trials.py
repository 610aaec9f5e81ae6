"""Everything that explains a model of known truth: the methods, aggregates of them, and controls; how far each is from
the truth, what every criterion says of it, and whether the two agree.

Rows are explained for their predicted class, so that all criteria have something to say about every row.
"""

import dataclasses

import numpy as np

import assay

OF_GRADIENTS = (
    "gradient",
    "gradient_x_input",
    "integrated_gradients",
    "smooth_grad",
    "deeplift",
    "deeplift_reveal_cancel",
)
OF_TREES = ("tree_shap", "tree_shap_path")
SLOPES = ("gradient", "smooth_grad")
FEW_SAMPLES = "kernel_shap:samples=32"
AGGREGATES = ("mean", "median", "region_shrinking")
NOISE = {"truth + 10 % noise": 0.1, "truth + 30 % noise": 0.3, "truth + 100 % noise": 1.0}
LADDER = ("truth", *NOISE, "random")  # from right to wrong, by construction
# Directions nearer than this are alike for the truth: a sampled method's last digits are no ranking.
ALIKE = 0.01


@dataclasses.dataclass
class Entry:
    kind: str  # method, aggregate or control
    rows: assay.Explanations
    pool: assay.Explanations


class Trial:
    """One model with the explanations of its rows and of its pool."""

    def __init__(self, model, folder):
        self.model = model
        file = folder / f"{model.name}.onnx"
        file.write_bytes(model.onnx())
        self.engine = assay.load(file)
        self.truth = self.signs(model.rows)[:, None] * model.truth()
        self.entries = {name: self.explained(name) for name in self.method_names()}
        for name in AGGREGATES:
            self.entries[name] = self.aggregated(name)
        self.entries |= self.controls()

    def signs(self, rows):
        """What is explained is the margin of the predicted class: the function, or minus the function."""
        return np.where(self.model.value(rows) > 0, 1.0, -1.0)

    @property
    def has_trees(self):
        return any(piece.kind == "step" for piece in self.model.pieces)

    def method_names(self):
        """Methods that this kind of model has; that the others are refused is tested, not assumed."""
        refused = (*OF_GRADIENTS, "tree_shap_path") if self.has_trees else OF_TREES
        for name in refused:
            try:
                self.explain(name, self.model.rows[:1])
            except assay.UnsupportedError:
                continue
            raise AssertionError(f"{name} explains {self.model.name}")
        return [*(name for name in assay.methods().names if name not in refused), FEW_SAMPLES]

    @property
    def methods(self):
        return [name for name, entry in self.entries.items() if entry.kind == "method"]

    @property
    def ranked(self):
        """What criteria have to choose from in practice: methods and their aggregates."""
        return [name for name, entry in self.entries.items() if entry.kind != "control"]

    def explain(self, method, rows):
        reference = {"baseline": self.model.baseline[None], "pool": self.model.pool}
        return assay.explain(
            self.engine, rows, method, target="predicted", **reference, seed=1, threads=1, progress=False
        )

    def explained(self, name):
        return Entry("method", self.explain(name, self.model.rows), self.explain(name, self.model.pool))

    def aggregated(self, name):
        """Of every method at its defaults: what someone gets who does not know which of them is right."""
        members = [self.entries[each] for each in self.methods if ":" not in each]
        rows, pool = (
            assay.aggregate([getattr(each, part) for each in members], name, threads=1) for part in ("rows", "pool")
        )
        return Entry("aggregate", rows, pool)

    def controls(self):
        rng = np.random.default_rng(7)

        def like(truth):
            """Random directions as long as the truth is."""
            noise = rng.normal(size=truth.shape)
            return noise * (np.linalg.norm(truth, axis=1) / np.linalg.norm(noise, axis=1))[:, None]

        makers = {"truth": lambda truth: truth, "random": like, "flipped": lambda truth: -truth}
        makers["permuted"] = lambda truth: rng.permuted(truth, axis=1)
        for name, level in NOISE.items():
            makers[name] = lambda truth, level=level: truth + level * like(truth)
        pool = self.signs(self.model.pool)[:, None] * self.model.truth(self.model.pool)
        return {
            name: Entry(
                "control", self.given(make(self.truth), self.model.rows), self.given(make(pool), self.model.pool)
            )
            for name, make in makers.items()
        }

    def given(self, values, rows):
        signs = self.signs(rows)
        base, output = signs * self.model.value(self.model.baseline), signs * self.model.value(rows)
        return assay.Explanations.from_array(
            values, features=self.entries["occlusion"].rows.features, base=base, output=output, target=(signs > 0) * 1
        )

    def error(self, name):
        """Root mean square over rows of the difference from the truth, relative to the truth's own."""
        return np.linalg.norm(self.entries[name].rows.values - self.truth) / np.linalg.norm(self.truth)

    def direction_error(self, name):
        """Mean distance between attributions and truth, both of unit norm: 0 right, 1.41 unrelated, 2 opposite. It does
        not ask for the scale, which slopes and aggregates do not have and most criteria do not see."""
        return np.mean(np.linalg.norm(unit(self.entries[name].rows.values) - unit(self.truth), axis=1))

    def top_right(self, name):
        """Share of rows whose strongest feature is the truth's; one of several that are as strong is as right."""
        values, truth = np.abs(self.entries[name].rows.values), np.abs(self.truth)
        chosen = np.take_along_axis(truth, values.argmax(axis=1)[:, None], axis=1)[:, 0]
        return np.mean(chosen >= truth.max(axis=1) * (1 - 1e-6))

    def irrelevant_mass(self, name):
        """Share of the sizes of all attributions that is on features which the model does not depend on."""
        values = np.abs(self.entries[name].rows.values.astype(np.float64))
        return values[:, self.model.irrelevant].sum() / values.sum()

    def scores(self, specs):
        """Of every entry and criterion, so that higher is better; nothing where no row has a score."""
        found = {}
        for name, entry in self.entries.items():
            others = {each: self.entries[each].rows for each in self.methods if each != name}
            reference = {"baseline": self.model.baseline[None], "pool": self.model.pool}
            scored = assay.evaluate(
                entry.rows,
                specs,
                model=self.engine,
                X=self.model.rows,
                **reference,
                pool_explanations=entry.pool,
                others=others,
                target="predicted",
                seed=1,
                threads=1,
                progress=False,
            )
            found[name] = {spec: score_of(scored[spec]) for spec in specs}
        return found

    def retrained_scores(self, specs):
        """Criteria that train again, where the model is linear: a logistic regression with the model's own weights, and
        labels drawn from its probabilities."""
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng(11)
        tables = (self.model.rows, self.model.pool)
        labels = [(rng.uniform(size=len(x)) < 1 / (1 + np.exp(-self.model.value(x)))).astype(int) for x in tables]
        regression = LogisticRegression(solver="newton-cholesky").fit(self.model.pool, labels[1])
        regression.coef_ = self.model.linear_weights[None]
        regression.intercept_ = np.array([self.model.constant])
        wrapped = assay.wrap(regression)
        found = {}
        for name, entry in self.entries.items():
            scored = assay.evaluate(
                self.given(entry.rows.values, self.model.rows),
                specs,
                model=wrapped,
                X=self.model.rows,
                y=labels[0],
                pool=self.model.pool,
                pool_y=labels[1],
                pool_explanations=self.given(entry.pool.values, self.model.pool),
                baseline=self.model.baseline[None],
                target="predicted",
                seed=1,
                threads=1,
                progress=False,
            )
            found[name] = {spec: score_of(scored[spec]) for spec in specs}
        return found


def unit(values):
    norms = np.linalg.norm(values.astype(np.float64), axis=1, keepdims=True)
    return values / np.where(norms > 0, norms, 1)


def score_of(scores):
    # The mean of a conviction belongs to its few largest values.
    convictions = scores.criterion in ("conviction", "conditional_conviction")
    if scores.coverage == 0:
        return None
    value = np.nanmedian(scores.values) if convictions else scores.mean
    if not np.isfinite(value):
        return None
    return -float(value) if scores.direction == "lower" else float(value)


def tau(scores, errors, names):
    """Kendall's tau between scores and truth over the pairs that the truth tells apart: those in its order less those
    against it, over all. Pairs that the criterion does not tell apart are neither. Nothing without such pairs."""
    names = [name for name in names if scores[name] is not None]
    total, sum_of_signs = 0, 0
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            apart = errors[second] - errors[first]
            if abs(apart) <= ALIKE:
                continue
            total += 1
            sum_of_signs += (1 if apart > 0 else -1) * compare(scores, first, second)
    return sum_of_signs / total if total else None


def compare(scores, first, second):
    """1 where the first has the higher score, -1 where it is lower, 0 where rounding explains the difference: of the
    scores themselves, or of what they are made from, beside how far all scores are apart."""
    a, b = scores[first], scores[second]
    there = [score for score in scores.values() if score is not None]
    if abs(a - b) <= max(1e-5 * max(abs(a), abs(b)), 1e-6 * (max(there) - min(there))):
        return 0
    return 1 if a > b else -1
