"""Success or failure: a camera that hangs askew, tuned on one digit at a time: python examples/tutorial_success.py

A camera reads handwritten digits, but it hangs askew and too far away. Software turns and enlarges each picture before
it is read. By which angle, and by how much? All that one picture tells is whether it was read correctly: 1 or 0.
"""

# --8<-- [start:setup]
import numpy as np
from scipy.ndimage import affine_transform
from sklearn.datasets import load_digits

import infgp

#: Pictures that the search may look at, one for each evaluation.
BUDGET = 120
SPACE = {"angle": infgp.Float(-90.0, 90.0), "zoom": infgp.Float(0.4, 2.0, log=True)}

images, digits = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8) / 16.0
#: The mean image of each digit less the mean of all of them, by which the reader knows it.
TEMPLATES = np.stack([images[:900][digits[:900] == digit].mean(axis=0).ravel() for digit in range(10)])
TEMPLATES -= TEMPLATES.mean(axis=0)
TEMPLATES /= np.linalg.norm(TEMPLATES, axis=1, keepdims=True)
# --8<-- [end:setup]


# --8<-- [start:reader]
def turned(image: np.ndarray, angle: float, zoom: float) -> np.ndarray:
    """The image turned about its centre by an angle in degrees, and enlarged."""
    a = np.deg2rad(angle)
    matrix = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) / zoom
    return affine_transform(image, matrix, offset=3.5 - matrix @ [3.5, 3.5], order=1)


def correct(rng: np.random.Generator, angle: float, zoom: float) -> float:
    """Take a picture of a digit that is not among the templates, set it right, read it: 1 if correctly, else 0."""
    which = int(rng.integers(900, len(digits)))
    picture = turned(images[which], 30.0, 0.8) + 0.1 * rng.standard_normal((8, 8))  # what the camera sees
    seen = turned(picture, angle, zoom).ravel()
    return float(np.argmax(TEMPLATES @ (seen - seen.mean())) == digits[which])


# --8<-- [end:reader]


if __name__ == "__main__":
    # --8<-- [start:search]
    rng = np.random.default_rng(0)
    result = infgp.maximize(lambda point: correct(rng, **point), SPACE, BUDGET, seed=0)
    best = result.recommendation
    print(f"angle {best.point['angle']:.0f} degrees, zoom {best.point['zoom']:.2f}")
    print(f"chance that a picture is read correctly: {best.mean:.2f} ± {best.std:.2f}")
    # --8<-- [end:search]

    # --8<-- [start:check]
    def chance(point: dict) -> float:
        """Share of 2000 other pictures that are read correctly."""
        fresh = np.random.default_rng(1)
        return float(np.mean([correct(fresh, **point) for _ in range(2000)]))

    print(f"share of 2000 other pictures: {chance(best.point):.3f}")
    print(f"left as they are: {chance({'angle': 0.0, 'zoom': 1.0}):.3f}")
    print(f"the camera's angle and zoom undone exactly: {chance({'angle': -30.0, 'zoom': 1.25}):.3f}")
    # --8<-- [end:check]
