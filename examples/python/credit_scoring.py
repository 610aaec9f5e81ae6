"""Credit scoring: from a trained XGBoost model to a report that can be shown to a regulator.

    pip install '.[sklearn]' xgboost   # in a checkout
    python examples/python/credit_scoring.py

A booster decides who gets a credit (the German credit data of UCI: files that you bring, in the folder that ASSAY_DATA
names). Those who are refused have a right to reasons. Four questions come before any reason is sent: does Assay compute
the model that is in use, do the reasons follow it, would nearly the same applicant get the same reasons, and are they
short enough to be read? docs/trees.md tells what the numbers mean.
"""

import xgboost

import assay

# 1. The data as it is: 13 of 20 columns are categories, as codes (A11, A12, ...). Nothing is encoded by hand.
train = assay.dataset("german", split="train").to_pandas()
test = assay.dataset("german", split="test").to_pandas()
X_train, y_train = train.drop(columns="risk"), (train["risk"] == "bad").astype(int)
X_test, y_test = test.drop(columns="risk"), (test["risk"] == "bad").astype(int)

# 2. The model as people build it, with XGBoost's own categories. The two files are all that the command line needs:
# `assay predict --check` compares with XGBoost's probabilities.
booster = xgboost.XGBClassifier(
    n_estimators=100, max_depth=3, learning_rate=0.1, enable_categorical=True, n_jobs=1, random_state=0
)
booster.fit(X_train, y_train)
booster.save_model("credit.json")
X_test.assign(probability=booster.predict_proba(X_test)[:, 1])[["probability"]].to_csv("scores.csv", index=False)
print(f"accuracy on {len(X_test)} applicants: {booster.score(X_test, y_test):.3f}")

# 3. Is it the same model? The trees are taken over, and compared with XGBoost's own scores; so is the file.
model = assay.wrap(booster, classes=["good", "bad"], name="credit booster")
print("wrapped:", model.check(X_test))
loaded = assay.load("credit.json")
print("loaded: ", loaded.check(X_test, booster.predict(X_test, output_margin=True)))

# 4. Who is refused, and why, compared with accepted applicants? The values add up to the log-odds of "bad" of the
# applicant less the mean of the background.
accepted = X_train[booster.predict(X_train) == 0].iloc[:50]
refused = X_test[booster.predict(X_test) == 1]
members = {
    "tree_shap": assay.explain(model, refused, "tree_shap", background=accepted, pool=X_train),
    "kernel_shap": assay.explain(model, refused, "kernel_shap", samples=512, background=accepted, pool=X_train),
    "occlusion": assay.explain(model, refused, "occlusion", background=accepted, pool=X_train),
}
first = members["tree_shap"][0]
print(
    f"\n{len(refused)} refused; applicant {first.ids[0]}: log-odds {first.output[0]:.2f}, accepted {first.base[0]:.2f}"
)
reasons = sorted(zip(first.features, first.values[0], strict=True), key=lambda reason: -reason[1])
for feature, value in reasons[:4]:
    print(f"  {feature:18} {refused[feature].iloc[0]!s:>6}  {value:+.2f}")

# 5. How good are the reasons? Standard errors say which differences mean anything. Sensitivity compares directions
# (unit norm), because aggregates have another size than their members.
criteria = ["faithfulness", "avg_sensitivity:normalise=unit", "complexity"]


def report(name, explanations):
    scores = assay.evaluate(explanations, criteria)
    shown = [f"{each.criterion.partition(':')[0]} {each.mean:.3f} +- {each.error:.3f}" for each in scores.values()]
    print(f"{name:17}  {'  '.join(shown)}")


print()
for name, explanations in members.items():
    report(name, explanations)

# 6. One out of three: no more complex on any row than the simplest of them.
report("region_shrinking", assay.aggregate(members, "region_shrinking"))

# 7. Attributes that must not decide. An explanation shows that the model uses them, never that it does not
# discriminate: others may stand in for them.
importance = members["tree_shap"].importance()
for feature in ("age", "personal_status", "foreign_worker"):
    print(f"{feature:17}  {importance[feature] / sum(importance.values()):.1%} of all attributions")

# 8. All of it for all applicants of the test part, in one folder: report.html opens offline.
study = assay.study(
    model,
    X_test,
    y=y_test.map({0: "good", 1: "bad"}),
    pool=X_train,
    background=accepted,
    methods=["tree_shap", "tree_shap_path", "kernel_shap:samples=512", "occlusion"],
    criteria=criteria,
    aggregators=["mean", "convex_min", "region_shrinking", "ava"],
    out="credit-study",
    overwrite=True,
)
print()
for sentence in study.verdict:
    print(f"- {sentence}")
for sentence in study.warnings:
    print(f"! {sentence}")
print(study.report)
