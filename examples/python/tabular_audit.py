"""Audit of a tabular model: boosted trees of scikit-learn on raw columns, with categories and missing values.

    pip install '.[sklearn]'   # in a checkout
    python examples/python/tabular_audit.py

A model decides who earns more than 50,000 a year (the Adult data set: files that you bring, in the folder that
ASSAY_DATA names). Before its explanations go to anybody, three questions: which method's explanations agree with the
model, are they stable, and can a better one be made of them?
"""

from sklearn.ensemble import HistGradientBoostingClassifier

import assay

# 1. The data as people have it: a DataFrame with numbers, categories and missing cells.
train = assay.dataset("adult", split="train").to_pandas()
test = assay.dataset("adult", split="test").to_pandas()
label = "income"
X_train, y_train = train.drop(columns=label), train[label]
X_test = test.drop(columns=label).iloc[:100]

# 2. The model as people build it. Assay calls it with DataFrames like these, never with a matrix of its own, and cells
# that are missing reach it as they are.
booster = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=50, random_state=0)
model = assay.wrap(booster.fit(X_train, y_train), name="income booster")

# 3. Explanations of the same rows by three methods: what each raw column adds to the log-odds of the higher income.
pool = X_train.iloc[:500]
members = {
    "kernel_shap": assay.explain(model, X_test, "kernel_shap", samples=256, pool=pool),
    "lime": assay.explain(model, X_test, "lime", samples=256, pool=pool),
    "occlusion": assay.explain(model, X_test, "occlusion", pool=pool),
}
print(members["kernel_shap"][:3])


# 4. How good each is. The standard errors say which differences mean anything.
def report(name, explanations):
    scores = assay.evaluate(explanations, ["faithfulness", "complexity"])
    shown = [f"{each.criterion} {each.mean:.3f} +- {each.error:.3f}" for each in scores.values()]
    print(f"{name:12}  {'  '.join(shown)}")


for name, explanations in members.items():
    report(name, explanations)

# 5. One out of three: the explanation that disagrees least with all of them.
report("median", assay.aggregate(members, "median"))

# 6. What drives the model, over these rows.
for feature, size in list(members["kernel_shap"].importance().items())[:5]:
    print(f"  {feature:16} {size:.3f}")
