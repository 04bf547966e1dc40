"""Micro-F1 of the positive class over all (target, label) cells, and its variants: the paper's metric."""

import numpy as np


def micro_f1(gold: np.ndarray, predicted: np.ndarray) -> tuple[float, float, float]:
    """(F1, precision, recall) of two label matrices of the same shape; 0 if nothing is predicted or nothing is gold.

    Not scikit-learn's, because probes are scored at every validation, where its input checks would take a fifth of the
    training time of small probes; and because it treats a matrix of one column as binary, so that its micro average
    would also count true negatives.
    """
    n_predicted, n_correct, n_gold = (int(np.count_nonzero(cells)) for cells in (predicted, gold & predicted, gold))
    return 2 * n_correct / max(n_predicted + n_gold, 1), n_correct / max(n_predicted, 1), n_correct / max(n_gold, 1)


def all_scores(gold: np.ndarray, predicted: np.ndarray, names: list[str]) -> dict:
    """The F1 of the paper's table, and the variants that other papers report under the same name.

    Coreference (labels 0 and 1): Tenney et al. count label 1 only. Relations: others exclude "Other".
    """
    f1, precision, recall = micro_f1(gold, predicted)
    one = [name == "1" for name in names] if set(names) <= {"0", "1"} else []
    known = [name != "Other" for name in names] if "Other" in names else []
    return {
        "f1": f1,
        "f1_positive_only": micro_f1(gold[:, one], predicted[:, one])[0] if one else np.nan,
        "precision": precision,
        "recall": recall,
        "f1_no_other": micro_f1(gold[:, known], predicted[:, known])[0] if known else np.nan,
    }
