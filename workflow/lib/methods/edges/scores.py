"""Micro-F1 over all cells of (target, label), the positive class counting: the paper's metric and its readings."""

import numpy as np


def micro_f1(gold: np.ndarray, predicted: np.ndarray) -> tuple[float, float, float]:
    """(F1, precision, recall) of two equally shaped label matrices; 0 where nothing is found or nothing is there.

    Counted here because probes are scored at every validation, where scikit-learn's checks of its input would take a
    fifth of the whole training of small probes; and because a matrix of one column is binary to scikit-learn, so that
    its micro average would count correct rejections too.
    """
    n_predicted, n_correct, n_gold = (int(np.count_nonzero(cells)) for cells in (predicted, gold & predicted, gold))
    return 2 * n_correct / max(n_predicted + n_gold, 1), n_correct / max(n_predicted, 1), n_correct / max(n_gold, 1)


def all_scores(gold: np.ndarray, predicted: np.ndarray, names: list[str]) -> dict:
    """The F1 of the table and the variants that other papers report under the same name.

    Coreference (labels 0 and 1): Tenney et al. count label 1 only. Relations: others leave "Other" out.
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
