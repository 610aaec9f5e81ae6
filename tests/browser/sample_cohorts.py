"""Groups of rows for the sample reports, as the program writes them."""


def group(name, rows, features, differences=(), accuracy=0.9, not_tested=None):
    spread = (None, None) if accuracy is None else (accuracy - 0.05, accuracy + 0.05)
    return {
        "name": name, "rows": rows, "accuracy": accuracy, "accuracy_interval": list(spread), "auc": 0.84,
        "auc_interval": [0.8, 0.88], "rmse": None, "rmse_interval": [None, None], "output": -0.75, "probability": 0.33,
        "drivers": [{"feature": place, "share": 0.4 - 0.1 * place} for place in range(min(3, features))],
        "faithfulness": [0.913, 0.012], "stability": [0.24, 0.021], "not_tested": not_tested,
        "differences": list(differences),
    }  # fmt: skip


def cohorts_of(features):
    """Two columns: one whose groups differ, with a group that is too small to test, and one of quantiles."""
    lower = {"measure": "faithfulness", "feature": None, "difference": -0.0523, "p": 0.0004}
    share = {"measure": "driver", "feature": 0, "difference": 0.125, "p": 0.031}
    sexes = [
        group("female", 4100, features, [lower, share], accuracy=0.81),
        group("male", 5871, features),
        group("other", 29, features, accuracy=None, not_tested="fewer than 30 rows"),
    ]
    ages = [
        group(name, 2500, features) for name in ("up to 41", "above 41, up to 58", "above 58, up to 71", "above 71")
    ]
    return {
        "explanation": 1, "faithfulness": 0, "stability": 2, "unit": "margin", "target": "septic", "tests": 42,
        "least_rows": 30, "columns": [{"name": "sex", "cut": "levels", "groups": sexes},
                                      {"name": "age", "cut": "quantiles", "groups": ages}],
    }  # fmt: skip
