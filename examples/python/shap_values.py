"""I already have SHAP values. How good are they, and what do others say?

    pip install '.[sklearn,shap]'   # in a checkout
    python examples/python/shap_values.py

Attributions from anywhere can be scored: shap.Explanation objects, Captum's tensors, NumPy arrays.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import assay

cancer = load_breast_cancer(as_frame=True)
X, y = cancer.data, cancer.target
X_train, X_test = X.iloc[:400], X.iloc[400:450]
classifier = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y.iloc[:400])

# 1. Attributions that were made elsewhere: by shap, or, where it is not installed, by its formula for linear models.
try:
    import shap

    scaled = classifier[0].transform(X_train)
    # All training rows: by default shap takes a sample of 100.
    masker = shap.maskers.Independent(scaled, max_samples=len(scaled))
    values = shap.LinearExplainer(classifier[-1], masker)(classifier[0].transform(X_test)).values
except ImportError:
    weights = classifier[-1].coef_[0] / classifier[0].scale_
    values = (X_test.to_numpy() - X_train.to_numpy().mean(axis=0)) * weights

# 2. The same model and rows, so that criteria can ask the model.
model = assay.wrap(classifier, name="breast cancer")
same = {"model": model, "X": X_test, "pool": X_train, "value": "margin"}
theirs = assay.Explanations.from_array(values, features=list(X.columns))
print(assay.evaluate(theirs, ["faithfulness", "sparseness", "complexity"], **same))

# 3. They are the Shapley values of this game: ours agree.
ours = assay.explain(**same, method="shapley_sampling")
print(f"largest difference from shapley_sampling: {np.abs(ours.values - values).max():.1e}")

# 4. Do other methods rank the features alike?
others = {"occlusion": assay.explain(**same, method="occlusion"), "shapley_sampling": ours}
print(assay.evaluate(theirs, "rank_correlation", others=others, **same))
