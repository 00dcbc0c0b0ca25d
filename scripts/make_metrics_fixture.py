#!/usr/bin/env python3
"""Writes tests/fixtures/metrics/*.json: random predictions with the figures of scikit-learn and scipy.

Needs numpy, scikit-learn and scipy. Run again only to add cases: the committed figures are the reference.
"""

import json
import math
import pathlib
import warnings

import numpy as np
from scipy import stats
from sklearn import metrics

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "metrics"


def classification_case(name, classes, labels, predictions):
    labels, predictions = [int(x) for x in labels], [int(x) for x in predictions]
    ids = list(range(classes))
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        labels, predictions, labels=ids, zero_division=0)
    return {
        "name": name, "classes": classes, "labels": labels, "predictions": predictions,
        "accuracy": metrics.accuracy_score(labels, predictions),
        "macro_f1": metrics.f1_score(labels, predictions, average="macro", zero_division=0),
        "micro_f1": metrics.f1_score(labels, predictions, average="micro", zero_division=0),
        "weighted_f1": metrics.f1_score(labels, predictions, average="weighted", zero_division=0),
        "matthews": float(metrics.matthews_corrcoef(labels, predictions)),
        "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "support": support.tolist(),
        "confusion": metrics.confusion_matrix(labels, predictions, labels=ids).tolist(),
    }


def classification_cases(rng):
    yield classification_case("one row, right", 2, [1], [1])
    yield classification_case("one row, wrong", 2, [0], [1])
    yield classification_case("one class predicted", 2, [0, 1, 1, 0], [1, 1, 1, 1])
    yield classification_case("one class present", 3, [2, 2, 2], [2, 2, 2])
    yield classification_case("all wrong", 2, [0, 1, 0, 1], [1, 0, 1, 0])
    yield classification_case("a class that never occurs", 4, [0, 1, 3, 3, 0], [0, 3, 3, 1, 0])
    yield classification_case("a class that is only predicted", 3, [0, 1, 0, 1], [0, 2, 2, 1])
    for number in range(30):
        classes = int(rng.integers(2, 9))
        rows = int(rng.integers(2, 80))
        labels = rng.integers(0, classes, rows)
        hit = rng.random(rows) < rng.random()
        predictions = np.where(hit, labels, rng.integers(0, classes, rows))
        yield classification_case(f"random {number}", classes, labels, predictions)


def finite(value):
    value = float(value)
    return None if math.isnan(value) else value


def regression_case(name, labels, predictions):
    labels, predictions = [float(x) for x in labels], [float(x) for x in predictions]
    enough = len(labels) >= 2
    return {
        "name": name, "labels": labels, "predictions": predictions,
        "mse": metrics.mean_squared_error(labels, predictions),
        "mae": metrics.mean_absolute_error(labels, predictions),
        "pearson": finite(stats.pearsonr(labels, predictions).statistic) if enough else None,
        "spearman": finite(stats.spearmanr(labels, predictions).statistic) if enough else None,
    }


def regression_cases(rng):
    yield regression_case("one row", [2.5], [1.0])
    yield regression_case("two rows", [1.0, 2.0], [5.0, 3.0])
    yield regression_case("constant labels", [3.0, 3.0, 3.0], [1.0, 2.0, 0.5])
    yield regression_case("constant predictions", [3.0, 2.0, 1.0], [0.1, 0.1, 0.1])
    yield regression_case("ties on both sides", [1, 1, 2, 2, 3, 3], [5, 4, 4, 4, 9, 5])
    yield regression_case("large offset", [1e6 + 1, 1e6 + 2, 1e6 + 3, 1e6 + 5], [2.0, 1.0, 3.0, 3.5])
    for number in range(20):
        rows = int(rng.integers(3, 60))
        labels = np.round(rng.random(rows) * 5, int(rng.integers(0, 3)))  # 0 digits: many ties
        predictions = labels * rng.random() + rng.standard_normal(rows) * rng.random()
        yield regression_case(f"random {number}", labels, np.round(predictions, int(rng.integers(1, 6))))


def write(name, cases):
    lines = ",\n".join(json.dumps(case) for case in cases)
    (FOLDER / name).write_text("[\n" + lines + "\n]\n")


def main() -> None:
    warnings.simplefilter("ignore")
    FOLDER.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(2026)
    write("classification.json", classification_cases(rng))
    write("regression.json", regression_cases(rng))


if __name__ == "__main__":
    main()
