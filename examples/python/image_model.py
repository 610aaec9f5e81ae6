"""Explanations of an image classifier: pixels, patches, and what they are worth.

    pip install '.[sklearn,plots]'   # in a checkout
    python examples/python/image_model.py

The model is any function of images; here scikit-learn's small network on 8 x 8 digits. A PyTorch module goes in the
same way, with gradients: assay.wrap(module).
"""

from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import assay

# 1. Images are arrays of rows x height x width; what is explained stays in that shape.
digits = load_digits()
images = digits.images / 16
train, test = images[:1500], images[1500:1540]
network = MLPClassifier([32], max_iter=1000, random_state=0).fit(train.reshape(len(train), -1), digits.target[:1500])
model = assay.wrap(
    lambda batch: network.predict_proba(batch.reshape(len(batch), -1)),
    classes=[str(digit) for digit in range(10)],
    name="digits network",
)
right = (model.predict(test).argmax(axis=1) == digits.target[1500:1540]).mean()
print(f"{right:.0%} of {len(test)} test images are right")

# 2. What each 2 x 2 patch adds to the probability of the predicted digit, against a black image, by three methods.
same = {"groups": "grid:2", "baseline": "zero"}
members = {
    "occlusion": assay.explain(model, test, "occlusion", **same),
    "kernel_shap": assay.explain(model, test, "kernel_shap", samples=256, **same),
    "lime": assay.explain(model, test, "lime", samples=256, **same),
}
print(members["kernel_shap"].shape, "patches:", members["kernel_shap"].provenance["players"])

# 3. One explanation of the three: what they agree on.
members["mean"] = assay.aggregate(members, "mean")
for name, explanations in members.items():
    scores = assay.evaluate(explanations, ["faithfulness:subset=4:samples=100", "complexity"])
    shown = [f"{each.criterion} {each.mean:.2f} +- {each.error:.2f}" for each in scores.values()]
    print(f"{name:12}  {'  '.join(shown)}")

# 4. As a picture, where plotly is installed: members["mean"].plot.image(0).show()
