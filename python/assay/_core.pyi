"""The engine, as C++ binds it (python/src). The package around it is what users see."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

version: str
vector_target: str

class UnsupportedError(ValueError):
    """Valid, but not possible here: for example a method without the gradient that it needs, or an unknown operator."""

class Run:
    """How one call into the engine runs. threads 0: as many as the machine has. progress: an object whose
    update(task, done, total) is called a few times a second on the calling thread, at the end with an empty task."""

    def __init__(self, seed: int = 0, threads: int = 0, progress: object | None = None) -> None: ...

class OptionInfo:
    @property
    def name(self) -> str: ...
    @property
    def default(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def range(self) -> str: ...

class MethodInfo:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def citation(self) -> str: ...
    @property
    def cost(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def uses_reference(self) -> bool: ...
    @property
    def shapley(self) -> bool: ...
    @property
    def for_trees(self) -> bool: ...
    @property
    def sampled(self) -> bool: ...
    @property
    def options(self) -> list[OptionInfo]: ...

class CriterionInfo:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def citation(self) -> str: ...
    @property
    def cost(self) -> str: ...
    @property
    def direction(self) -> str: ...
    @property
    def range(self) -> str: ...
    @property
    def sampled(self) -> bool: ...
    @property
    def needs(self) -> list[str]: ...
    @property
    def options(self) -> list[OptionInfo]: ...

class AggregatorInfo:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def family(self) -> str: ...
    @property
    def citation(self) -> str: ...
    @property
    def cost(self) -> str: ...
    @property
    def guarantee(self) -> str: ...
    @property
    def needs(self) -> list[str]: ...
    @property
    def options(self) -> list[OptionInfo]: ...

def methods() -> list[MethodInfo]: ...
def criteria() -> list[CriterionInfo]: ...
def main_criteria() -> list[str]: ...
def aggregators() -> list[AggregatorInfo]: ...

# A method, criterion or aggregator: its name and its options, as text.
Spec = tuple[str, Sequence[tuple[str, str]]]

def parse_spec(where: str, text: str) -> tuple[str, list[tuple[str, str]]]: ...
def parse_specs(where: str, text: str) -> list[tuple[str, list[tuple[str, str]]]]: ...
def aligned(lines: Sequence[Sequence[str]], left: Sequence[int]) -> str:
    """Lines of cells as a table for terminals; columns of `left` are aligned to the left, the others to the right."""

def short_number(value: float) -> str: ...
def mean_and_error(mean: float, error: float, digits: int = 1) -> str:
    """digits: of the error."""

class Doubles:
    """The columns of a table that float32 rounded, as doubles, for models that compare doubles."""

    def __init__(self) -> None: ...
    def set(self, column: str, cells: NDArray[np.float64]) -> None: ...
    def selected(self, rows: Sequence[int]) -> Doubles:
        """Only these rows."""

    @property
    def columns(self) -> dict[str, NDArray[np.float64]]:
        """By name; without columns that float32 holds exactly."""

class Table:
    """A raw table: named columns of numbers or categories, missing is NaN."""

    @staticmethod
    def from_columns(
        source: str,
        names: Sequence[str],
        values: NDArray[np.float32],
        levels: Sequence[Sequence[str] | None],
        label: str | None = None,
        id_name: str = "",
        ids: Sequence[str] = (),
        item_shape: Sequence[int] = (),
        rounded: Sequence[int] = (),
        truth: Sequence[str] = (),
    ) -> Table:
        """values: rows x columns; levels[j] is None for a column of numbers, else the texts of its codes. rounded: for
        each column how many whole numbers beyond 2^24 float32 could not hold. truth: the columns of numbers that are
        truth values."""

    @staticmethod
    def from_arrow(
        stream: object,
        source: str,
        label: str | None = None,
        id: str | None = None,
        doubles: Doubles | None = None,
        used: Sequence[str] | None = None,
    ) -> Table:
        """From an object with __arrow_c_stream__ (pyarrow, polars, pandas). doubles: gets what float32 rounds. used:
        the columns that are looked at; of others, those of types that no table holds are left out."""

    @staticmethod
    def open(
        what: str,
        split: str = "all",
        label: str | None = None,
        id: str | None = None,
        folders: Sequence[str] = (),
        run: Run | None = None,
        doubles: Doubles | None = None,
    ) -> Table:
        """A data set by name, or a file."""

    @property
    def source(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def levels(self) -> list[list[str] | None]: ...
    @property
    def values(self) -> NDArray[np.float32]: ...
    @property
    def label(self) -> str | None: ...
    @property
    def truth(self) -> list[str]:
        """The columns of numbers that are truth values."""

    @property
    def id_name(self) -> str: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def item_shape(self) -> list[int]: ...
    @property
    def rounded(self) -> list[int]:
        """For each column, how many whole numbers float32 could not hold."""

    def select(self, rows: Sequence[int]) -> Table: ...

class Dataset:
    """Rows as a model takes them: float32, with names, groups of columns, labels."""

    @staticmethod
    def from_matrix(
        x: NDArray[np.float32],
        names: Sequence[str],
        source: str,
        kinds: Sequence[Sequence[str] | None] | None = None,
        item_shape: Sequence[int] = (),
    ) -> Dataset:
        """kinds[j]: None for a number, else the levels of a category whose codes the column holds."""

    @property
    def source(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def x(self) -> NDArray[np.float32]: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def item_shape(self) -> list[int]: ...
    @property
    def labels(self) -> NDArray[np.float32] | None: ...
    @property
    def class_names(self) -> list[str]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def id_name(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    def add_note(self, note: str) -> None: ...
    @property
    def shown(self) -> dict[int, NDArray[np.float64]]:
        """By column: the user's cells, where the numbers of x only stand for them."""

    def set_shown(self, column: int, cells: NDArray[np.float64]) -> None: ...
    def note_lost_digits(self, model: str) -> None:
        """Adds a note where cells that are near to each other lost digits which this model would see."""
    def copy(self) -> Dataset: ...
    def set_labels(self, labels: NDArray[np.float32], name: str, class_names: Sequence[str]) -> None: ...
    def set_ids(self, ids: Sequence[str], name: str) -> None: ...

# rows -> outputs, both float32 matrices; and (rows, weights) -> gradients by the rows of sum(weights * outputs).
PredictFunction = Callable[[NDArray[np.float32]], NDArray[np.float32]]
GradientFunction = Callable[[NDArray[np.float32], NDArray[np.float32]], NDArray[np.float32]]
# (training rows, seed) -> a model of the same kind fitted to them
TrainFunction = Callable[[Dataset, int], "Model"]

class Model:
    @staticmethod
    def load(
        path: str,
        unit: str | None = None,
        features: int | None = None,
        name: str | None = None,
        texts_of: Model | None = None,
    ) -> Model:
        """texts_of: a model of the same file, whose rows of texts it is to understand."""

    @staticmethod
    def from_bytes(
        name: str,
        data: bytes,
        unit: str | None = None,
        features: int | None = None,
        class_names: Sequence[str] = (),
        feature_names: Sequence[str] = (),
        note: str = "",
        texts_of: Model | None = None,
    ) -> Model:
        """A file of any kind that `load` reads. Names and the note replace those of the file where they are given."""

    @staticmethod
    def from_trees(
        name: str,
        *,
        modes: NDArray[np.int64],
        features: NDArray[np.int64],
        thresholds: NDArray[np.float64],
        missing_true: NDArray[np.int64],
        true_child: NDArray[np.int64],
        false_child: NDArray[np.int64],
        first_weight: NDArray[np.int64],
        weight_count: NDArray[np.int64],
        covers: NDArray[np.float64],
        weight_targets: NDArray[np.int64],
        weight_values: NDArray[np.float64],
        set_lengths: NDArray[np.int64],
        set_members: NDArray[np.float64],
        roots: NDArray[np.int64],
        feature_count: int,
        targets: int,
        base: NDArray[np.float64],
        aggregate: str,
        link: str,
        classification: bool,
        class_names: Sequence[str],
        feature_names: Sequence[str],
        categories: Mapping[int, Sequence[str]],
        producer: str = "",
        note: str = "",
        unit: str | None = None,
        compares_doubles: bool = False,
    ) -> Model:
        """One entry for each node: its mode (the engine's TreeMode), the feature it tests, against what (of a member
        node: the number of its set), whether missing goes to the true child, where its children are; of a leaf, where
        its weights are. covers: none, or one for each node. base: none, or one for each target."""

    @staticmethod
    def from_functions(
        name: str,
        feature_names: Sequence[str],
        output_names: Sequence[str],
        class_names: Sequence[str],
        unit: str,
        predict: PredictFunction,
        gradient: GradientFunction | None = None,
        no_gradient: str = "",
        graph: Callable[[], tuple[Model | None, str]] | None = None,
        train: TrainFunction | None = None,
        note: str = "",
        no_layers: str = "",
        most_rows: int = 65536,
        logits: bool = True,
    ) -> Model:
        """graph: finds the same function as an ONNX model of the same features and outputs, or why there is none; asked
        once, by the first that needs its layers. no_layers: why there is none where nobody finds one. logits: whether
        softmax (of one output: sigmoid) makes probabilities of its margins."""

    @property
    def name(self) -> str: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def output_names(self) -> list[str]: ...
    @property
    def class_names(self) -> list[str]: ...
    @property
    def unit(self) -> str: ...
    @property
    def logits(self) -> bool:
        """Whether softmax or a sigmoid makes probabilities of its margins, where it gives margins."""

    @property
    def note(self) -> str: ...
    @property
    def no_gradient(self) -> str: ...
    @property
    def no_layers(self) -> str | None:
        """Why DeepLift cannot use its layers; None if it can, or if it is not known."""

    @property
    def capabilities(self) -> list[str]:
        """Some of gradient, multipliers, affine_entry, retrain, randomise."""

    @property
    def item_shape(self) -> list[int]: ...
    @property
    def raw_columns(self) -> list[str]:
        """The columns of raw tables that the model's encoder takes; empty without an encoder."""

    @property
    def categories(self) -> dict[int, list[str]]:
        """By index of the feature, the texts of its codes 0, 1, ...; empty if the model only knows codes."""

    def example_row(self) -> Table:
        """A row that the encoder takes; only where there is one."""

    @property
    def is_graph(self) -> bool:
        """Whether the engine runs it itself; else it is a Python function."""

    @property
    def plain_rows(self) -> bool:
        """Whether rows are passed to it unchanged: float32, without an encoder."""

    @property
    def producer(self) -> str:
        """The library that it came from, if its file says so."""

    @property
    def takes_doubles(self) -> bool:
        """Whether some input takes doubles, which rows of float32 round."""

    @property
    def columns_by_name(self) -> list[str] | None:
        """The columns that it takes by their names; None if it takes columns by position."""

    @property
    def compares_doubles(self) -> bool:
        """Whether its trees compare float64 cells. `narrowed` and `features_of` then find matching float32 ones."""

    def with_class_names(self, names: Sequence[str]) -> Model:
        """The same model with other names of its classes. Tables are still encoded with the first ones."""

    def narrowed(self, source: str, names: Sequence[str], rows: NDArray[np.float64]) -> NDArray[np.float32]:
        """Rows of float32 for which every branch decides as for these."""

    def features_of(self, table: Table, doubles: Doubles | None = None) -> Dataset: ...
    def predict(self, data: Dataset, run: Run) -> NDArray[np.float32]: ...
    def with_training(self, train: TrainFunction) -> Model:
        """The same model, which can also be trained again."""

    def onnx_bytes(self) -> bytes:
        """Only for a model that was loaded or trained."""

def train(table: Table, encode: str, unseen: str, held_out: Table | None, run: Run) -> bytes:
    """The paper's network for tables, or one of convolutions that fits the images, as an ONNX file with its encoder.

    unseen: "refuse", or "unknown" for a model that takes categories which its training rows did not have."""

class Designs:
    """What calls with the same method, options and seed share, whatever the model; for explain."""

    def __init__(self) -> None: ...

class SavedExplainer:
    """What the file of a prepared explainer holds."""

    @staticmethod
    def read(path: str) -> SavedExplainer: ...
    @staticmethod
    def from_bytes(name: str, data: bytes) -> SavedExplainer: ...
    @property
    def model_name(self) -> str: ...
    @property
    def model_bytes(self) -> bytes: ...
    @property
    def method(self) -> tuple[str, list[tuple[str, str]]]: ...
    @property
    def seed(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def front_end(self) -> str: ...
    def subject(
        self, where: str, model: Model, margins: Model | None, probabilities: Model | None, owner: object
    ) -> Subject:
        """Its columns, players, reference, pool and choice of target. The models are made of model_bytes."""

class Prepared:
    """An explanation function that is ready for rows that come one at a time."""

    def __init__(self, subject: Subject, method: Spec, run: Run, beside: str = "") -> None:
        """subject: its model, players, reference and choice of target; its rows only tell the columns. beside: the
        argument that told them, for tables with these columns in another order, which are refused; empty if none."""

    def explain(self, rows: Dataset, words: str, run: Run) -> Explanations:
        """words: what provenance calls the rows. The seed is that of the preparation."""

    def write(self, path: str, name: str, data: bytes, unit: str, front_end: str, run: Run) -> None:
        """name, data: of the model, as an ONNX file. unit: the user's word, or empty. front_end: kept as it is."""

    def explain_floats(self, array: NDArray[np.float32], run: Run) -> Explanations | None:
        """Rows, or one row; None if the package must convert the array, or say what is wrong with it."""

    def explain_doubles(self, array: NDArray[np.float64], run: Run) -> Explanations | None:
        """The same."""

class Subject:
    """What is explained: model, rows, pool, players, targets and what stands for absent features."""

    def __init__(
        self,
        model: Model,
        data: Dataset,
        run: Run,
        margins: Model | None = None,
        pool: Dataset | None = None,
        baseline: str | Dataset | None = None,
        background: str | Dataset | None = None,
        reference_needed: bool = False,
        groups: str = "auto",
        groups_json: str | None = None,
        target: str = "auto",
        targets: NDArray[np.uint32] | None = None,
        information: bool = False,
        in_pool: NDArray[np.int64] | None = None,
        data_words: str = "",
        pool_words: str = "",
        owner: object | None = None,
        method: Spec | None = None,
        probabilities: Model | None = None,
    ) -> None:
        """targets: for each row the class or output that is explained, in place of `target`. in_pool: for each row its
        number in the pool, -1 where it is none of its rows. owner: tells whether two models are one.
        method: which must be possible. probabilities: of the same model, if its margins are no logits."""

    @property
    def model(self) -> Model: ...
    @property
    def data(self) -> Dataset: ...
    @property
    def pool(self) -> Dataset | None: ...
    @property
    def players(self) -> list[str]: ...
    @property
    def players_words(self) -> str: ...
    @property
    def data_words(self) -> str: ...
    @property
    def pool_words(self) -> str: ...
    @property
    def reference(self) -> str: ...
    @property
    def target_names(self) -> list[str]: ...
    @property
    def targets(self) -> NDArray[np.uint32]: ...
    def add_note(self, note: str) -> None:
        """A sentence for the notes of a study."""

    def labelled(self, data: Dataset | None, pool: Dataset | None) -> Subject:
        """The same subject with these labels of rows and pool; None: unchanged. The rows must be the same."""

class Explanations:
    @staticmethod
    def from_arrays(
        values: NDArray[np.float32],
        features: Sequence[str],
        base: NDArray[np.float64] | None = None,
        output: NDArray[np.float64] | None = None,
        target: NDArray[np.uint32] | None = None,
        target_names: Sequence[str] = (),
        standard_error: NDArray[np.float32] | None = None,
        ids: Sequence[str] = (),
        id_name: str = "",
        method: str = "",
        unit: str = "",
        model: str = "",
        data: str = "",
        players: str = "",
        notes: Sequence[str] = (),
    ) -> Explanations: ...
    @staticmethod
    def read(path: str) -> Explanations: ...
    def write(self, path: str) -> None: ...
    def select(self, rows: Sequence[int]) -> Explanations: ...
    @property
    def values(self) -> NDArray[np.float32]:
        """Rows x players, read-only, no copy."""

    @property
    def features(self) -> list[str]: ...
    @property
    def base(self) -> NDArray[np.float64]: ...
    @property
    def output(self) -> NDArray[np.float64]: ...
    @property
    def gap(self) -> NDArray[np.float64]: ...
    @property
    def target(self) -> NDArray[np.uint32]: ...
    @property
    def target_names(self) -> list[str]: ...
    @property
    def standard_error(self) -> NDArray[np.float32] | None: ...
    @property
    def background_error(self) -> NDArray[np.float32] | None: ...
    @property
    def replicates(self) -> NDArray[np.float32] | None:
        """Rows x (count * players), read-only, no copy; None where there are none."""

    @property
    def ids(self) -> list[str]: ...
    @property
    def id_name(self) -> str: ...
    @property
    def evaluations(self) -> int: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def provenance(self) -> dict[str, Any]:
        """method, options (dict), seed, unit, target, model, data, players, reference, draw, version, vector_target."""

    @property
    def combination(self) -> dict[str, Any] | None:
        """For an aggregate: members, relative, weights, antecedents, measures (dict of arrays); None for others."""

    @property
    def subject(self) -> Subject | None:
        """What they were made from in this process; None if they were made elsewhere."""

class Scores:
    @property
    def criterion(self) -> str: ...
    @property
    def options(self) -> dict[str, str]: ...
    @property
    def direction(self) -> str: ...
    @property
    def values(self) -> NDArray[np.float64]: ...
    @property
    def of_rows(self) -> bool: ...
    @property
    def standard_error(self) -> NDArray[np.float64] | None: ...
    @property
    def undefined(self) -> list[tuple[str, int]]: ...
    @property
    def mean(self) -> float: ...
    @property
    def mean_error(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]: ...
    @property
    def coverage(self) -> float: ...
    @property
    def tables(self) -> list[tuple[str, list[str], list[list[float]], list[str]]]:
        """name, columns, rows, labels of the rows."""

    @property
    def notes(self) -> list[str]: ...
    @property
    def evaluations(self) -> int: ...

def explain(
    subject: Subject, method: Spec, run: Run, replicates: int = 0, designs: Designs | None = None
) -> Explanations: ...

class Reasons:
    @property
    def rows(self) -> int: ...
    @property
    def top(self) -> int: ...
    @property
    def direction(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def replicates(self) -> int: ...
    @property
    def certainty_known(self) -> bool: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def row_column(self) -> str: ...
    @property
    def row(self) -> list[int]:
        """For each reason the index of its row, from 0. So all lists below: one item for each reason."""

    @property
    def rank(self) -> list[int]: ...
    @property
    def feature(self) -> list[str | None]: ...
    @property
    def value(self) -> list[str]: ...
    @property
    def attribution(self) -> list[float]: ...
    @property
    def share(self) -> list[float]: ...
    @property
    def certainty(self) -> list[float]: ...
    @property
    def order_certainty(self) -> list[float]: ...
    @property
    def agreement(self) -> list[float]: ...
    @property
    def withheld(self) -> list[str]: ...
    @property
    def text(self) -> list[str]: ...
    def uncertain_rows(self, level: float) -> list[int]: ...
    def write(self, path: str) -> None: ...

def reasons(
    explanations: Explanations,
    run: Run,
    top: int,
    direction: str,
    groups: str | None,
    exclude: Sequence[str],
    template: str | None,
    background: str,
    replicates: int,
    others: Sequence[Explanations],
    whole_pool: int = 0,
) -> Reasons:
    """groups, template: JSON. background: "whole", "approved", "pool:100" or "spread:100"; empty: as they have it.
    replicates: made where some are needed and there are none. whole_pool: rows of which the pool is a sample."""

def evaluate(
    explanations: Explanations,
    criterion: Spec,
    run: Run,
    subject: Subject | None = None,
    pool_explanations: Explanations | None = None,
    others: Sequence[Explanations] = (),
    other_names: Sequence[str] = (),
    interval: bool = True,
) -> Scores:
    """subject None: the one that the explanations were made from. An input error where they do not fit it."""

def criterion_refusal(
    explanations: Explanations,
    criterion: Spec,
    subject: Subject | None = None,
    pool_explanations: Explanations | None = None,
    others: Sequence[Explanations] = (),
) -> tuple[str, str] | None:
    """Why the criterion cannot score them, and what would help: a key of the package's table of arguments, or ""."""

def aggregate(
    members: Sequence[Explanations],
    names: Sequence[str],
    aggregator: Spec,
    run: Run,
    subject: Subject | None = None,
    pool_members: Sequence[Explanations] = (),
) -> Explanations: ...

class StudyResult:
    """A finished study, and what its folder holds."""

    @property
    def folder(self) -> str: ...
    @property
    def json(self) -> str:
        """The text of study.json."""

    @property
    def screen(self) -> str:
        """Quality, drivers and what to use, for a terminal."""

    @property
    def table(self) -> str:
        """Means and errors by explanation and criterion, for a terminal."""

    @property
    def conclusions(self) -> str:
        """Verdict, warnings and what was left out."""

    @property
    def groups(self) -> str:
        """Groups of rows, for a terminal."""

    @property
    def entries(self) -> list[tuple[str, str, Explanations, list[Scores]]]:
        """name, "method" or "aggregate", and one Scores for each criterion. Explanations are of the sampled rows."""

    @property
    def for_reasons(self) -> tuple[str, str]:
        """The entry that reasons are taken from, and why; or "", and why none can be."""

    @property
    def faithful_methods(self) -> list[str]:
        """Methods that are faithful, add up and speak for themselves."""

def agreed_class_names(
    model: Model, parts: Sequence[tuple[Dataset, Sequence[str], Sequence[float]]], column: str, run: Run
) -> tuple[list[str], str]:
    """Names for a model that counts its classes, and a sentence. parts: rows, the texts of their labels, and for each
    row the index of its text, NaN if it has none."""

def found_ids(
    model: Model, rows: Table, doubles: Doubles, pool: Table, pool_doubles: Doubles, kept: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Columns that only name rows and that the model does not take, and a sentence on each. kept: columns that the
    user says something about."""

def check_time(word: str) -> None:
    """Raises a ValueError unless it is a time that a study may take."""

def spread_count(word: str) -> int:
    """The number of rows in a word "spread:N"; a ValueError if there is none."""

def plan_study(
    subject: Subject,
    run: Run,
    methods: Sequence[Spec],
    criteria: Sequence[Spec],
    aggregators: Sequence[Spec],
    no_aggregates: bool,
    members: Sequence[str],
    retrain: bool,
    curves: bool,
    variations: bool,
    sample: str = "auto",
    pool_sample: str = "auto",
    reference_said: bool = False,
    background: int = 0,
    margin: float = 0.05,
    tie: float = 0.002,
    time: str = "",
    title: str = "",
) -> tuple[str, int, float]:
    """What a study would do in words, and its evaluations of the model and seconds, as expected."""

def read_study(folder: str) -> StudyResult:
    """A finished study from its folder, which is checked; its explanations have no subject."""

def run_study(
    subject: Subject,
    run: Run,
    *,
    methods: Sequence[Spec],
    criteria: Sequence[Spec],
    aggregators: Sequence[Spec],
    no_aggregates: bool,
    members: Sequence[str],
    retrain: bool,
    curves: bool,
    variations: bool,
    cells: bool,
    cohort_named: bool,
    cohort_words: Sequence[str],
    cohort_columns: Sequence[tuple[str, Sequence[float], Sequence[str] | None]],
    sample: str,
    pool_sample: str,
    reference_said: bool,
    background: int,
    margin: float,
    tie: float,
    time: str,
    folder: str,
    resume: bool,
    overwrite: bool,
    title: str,
    data_words: str,
    pool_words: str,
    players_words: str,
    settings: Sequence[str],
    inputs: Sequence[tuple[str, str, str]],
) -> StudyResult:
    """Empty lists mean the defaults; empty words those of the subject. settings: what was said that decides results, as
    a study that is resumed must have it again. inputs: role, name and SHA-256 ("" for none) of what goes in.
    cohort_words: "prediction", "label". cohort_columns: the name, then numbers and None, or indices of levels and the
    levels, one for each row of the subject; NaN is missing."""
