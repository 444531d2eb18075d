"""Fits of InfiniteGP to degenerate designs and rewards."""

from __future__ import annotations

from typing import Any

import numpy as np

import infgp
from tests.fuzz.draws import Wrong


def make(rng: np.random.Generator) -> dict[str, Any]:
    """A fit: its steps are the observations, each the inputs, the reward and the noise variance."""
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    x = rng.random((n, d)) * 10.0 ** rng.integers(-300, 300)
    if rng.random() < 0.3:
        x[:, rng.integers(d)] = 0.5
    if rng.random() < 0.3:
        x[rng.integers(n, size=n // 2)] = x[0]
    y = rng.normal(size=n) if rng.random() < 0.7 else np.full(n, 0.1 + 0.2)
    y *= 10.0 ** rng.integers(-200, 200) if rng.random() < 0.2 else 1.0
    for _ in range(rng.integers(3)):
        y[rng.integers(n)] = 10.0 ** rng.uniform(-50, 50)
    noisy = rng.random() < 0.3
    noise = rng.random(n) * 10.0 ** rng.integers(-20, 20)
    options = {
        "kernel": ["se", "matern52", "auto"][rng.integers(3)],
        "ard": bool(rng.integers(2)),
        "surfaces": [None, None, 1][rng.integers(3)],
        "regions": bool(rng.integers(2)),
        "surface_scales": ["own", "shared"][rng.integers(2)],
        "sampler": "truncated" if not noisy and rng.random() < 0.2 else "collapsed",
        "odds": ["constant", "smooth"][rng.integers(2)],
        "random_state": int(rng.integers(2**31)),
    }
    rows = [[x[i].tolist(), float(y[i]), float(noise[i])] for i in range(n)]
    return {"options": options, "noisy": noisy, "steps": rows}


def play(case: dict[str, Any]) -> None:
    """Fit and predict."""
    if not case["steps"]:
        return
    x, y, noise = (np.array(column) for column in zip(*case["steps"], strict=True))
    try:
        model = infgp.InfiniteGP(n_warmup=20, n_samples=5, **case["options"])
        model.fit(x, y, noise_variance=noise if case["noisy"] else None)
    except infgp.InvalidInputError:
        return
    at = np.concatenate((x[:3], x[:1] * 0.5, x[:1] + 1.0))
    parts = [*model.predict(at, return_std=True), model.predict_quantiles(at, [0.05, 0.5, 0.95])]
    parts += [*model.predict_main(at, return_std=True), model.sample_y(at, 2)]
    parts.append(model.predict_density(at, np.resize(y, len(at))))
    if not all(np.isfinite(part).all() for part in parts):
        raise Wrong(f"not finite: {parts}")
    if (np.diff(parts[2], axis=-1 if parts[2].shape[0] == len(at) else 0) < 0.0).any():
        raise Wrong(f"quantiles that cross: {parts[2]}")
