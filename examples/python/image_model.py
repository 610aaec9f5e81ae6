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

# 2. What each 2 x 2 patch adds to the probability of the predicted digit, against a black image.
patches = assay.explain(model, test, "shapley_sampling", groups="grid:2", baseline="zero", seed=1)
print(patches.shape, "patches of", patches.provenance["players"])

# 3. Single pixels, by two methods, and one explanation of both that is as simple as they allow.
occluded = assay.explain(model, test, "occlusion", baseline="zero")
sampled = assay.explain(model, test, "shapley_sampling", baseline="zero", permutations=10)
simple = assay.aggregate({"occlusion": occluded, "shapley_sampling": sampled}, "region_shrinking")
for name, explanations in {"occlusion": occluded, "shapley_sampling": sampled, "region_shrinking": simple}.items():
    scores = assay.evaluate(explanations, ["complexity", "faithfulness:subset=8:samples=50"])
    complexity, faithfulness = scores.values()
    print(
        f"{name:18}  complexity {complexity.mean:.2f}  faithfulness {faithfulness.mean:.2f} +- {faithfulness.error:.2f}"
    )

# 4. As a picture, where plotly is installed: patches.plot.image(0).show()
