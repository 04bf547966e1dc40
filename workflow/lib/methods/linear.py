"""The papers' "softmax classifier": scikit-learn's multinomial logistic regression on centred and scaled features.

Neurons are strongly correlated, and on hundreds of them L-BFGS, scikit-learn's default, takes hundreds of iterations.
Newton's method with conjugate gradients takes a dozen, in about the same time, and ends closer to the optimum (table in
CONTRIBUTING).
"""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from workflow.lib.base.errors import UserError
from workflow.lib.base.work import count
from workflow.lib.methods.scaling import fitted_scaler


def common_scale_of(x: np.ndarray) -> float:
    """One number that all features are divided by: their standard deviation on average."""
    return float(fitted_scaler(x).var_.mean() ** 0.5)


def fit_softmax(x: np.ndarray, y: np.ndarray, c: float = 1.0, common_scale: float | None = None) -> Pipeline:
    """A fitted classifier. Features are divided by their standard deviations, or all by `common_scale`, which keeps
    rotations of the features equivalent."""
    if len(np.unique(y)) < 2:
        raise UserError(f"a classifier tells labels apart, but its {len(y)} training rows all have the same one")
    scaler = fitted_scaler(x)
    if common_scale is not None:
        scaler.scale_[:] = common_scale or 1.0
    classifier = LogisticRegression(C=c, solver="newton-cg", max_iter=1000).fit(scaler.transform(x), y)
    count("fits")
    return make_pipeline(scaler, classifier)
