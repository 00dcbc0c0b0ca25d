#!/usr/bin/env python3
"""The table that `ranktune train` prints after an evaluation, against scikit-learn's classification_report.

A short training on eight intents of banking77, so that some labels are found well, some badly, some never.
"""
import csv
import re

from sklearn.metrics import classification_report

import hf_reference as reference
from peer_case import PeerCase, read_json

LABELS = 8
NUMBER = r"([0-9]*\.?[0-9]+)(%?)"


def rows_of(path, labels, per_label):
    """The first rows of each label, in file order."""
    left = {label: per_label for label in labels}
    chosen = []
    for text, label in reference.read_rows(path):
        if left.get(label, 0) > 0:
            left[label] -= 1
            chosen.append((text, label))
    return chosen


def same_as_printed(printed, percent, exact):
    """True when `printed` is `exact` rounded to as many digits as are printed."""
    value = exact * 100 if percent else exact
    digits = len(printed.partition(".")[2])
    return abs(float(printed) - value) <= 0.5 * 10 ** -digits + 1e-9


def compare_class(case, table, label, report):
    found = re.search(rf"^[\s|]*{re.escape(label)}[\s|]+{NUMBER}[\s|]+{NUMBER}[\s|]+{NUMBER}[\s|]+(\d+)", table, re.M)
    if not found:
        case.check(False, f"{label}: a row in the table", "none found")
        return
    groups = found.groups()
    exact = [report[label][key] for key in ("precision", "recall", "f1-score")]
    shown = list(zip(groups[0:6:2], groups[1:6:2]))
    passed = all(same_as_printed(number, percent, value) for (number, percent), value in zip(shown, exact))
    case.check(passed and int(groups[6]) == report[label]["support"], f"{label}: precision, recall, F1, rows",
               f"{' '.join(number for number, _ in shown)} {groups[6]}")


def main():
    case = PeerCase(__doc__)
    train_path, test_path = case.data("banking77/train.csv"), case.data("banking77/test.csv")
    # The table cuts names of more than 40 letters.
    labels = sorted({label for _, label in reference.read_rows(test_path) if len(label) <= 40})[:LABELS]
    reference.write_rows(case.folder / "train.csv", rows_of(train_path, labels, 16))
    dev_rows = rows_of(test_path, labels, 20)
    reference.write_rows(case.folder / "dev.csv", dev_rows)
    output = case.folder / "model"
    table = case.train(output, model_name_or_path=reference.minilm_folder(), train_file=case.folder / "train.csv",
                       validation_file=case.folder / "dev.csv", per_device_train_batch_size=16, learning_rate=1e-4,
                       num_train_epochs=2)
    case.run("predict", "--model", output, "--file", case.folder / "dev.csv", "--output", case.folder / "out.csv",
             "--text_column_names", "sentence", "--use_cpu")
    with open(case.folder / "out.csv", newline="", encoding="utf-8") as file:
        predicted = [row["predicted_label"] for row in csv.DictReader(file)]
    report = classification_report([label for _, label in dev_rows], predicted, labels=labels, output_dict=True,
                                   zero_division=0)
    accuracy = sum(a == b for (_, a), b in zip(dev_rows, predicted)) / len(dev_rows)
    case.near("eval_accuracy", [read_json(output / "all_results.json")["eval_accuracy"]], [accuracy], 1e-9)
    for label in labels:
        compare_class(case, table, label, report)
    macro = re.search(rf"macro[ _-]?F1\D*?{NUMBER}", table, re.I)
    case.check(macro is not None and same_as_printed(*macro.groups(), report["macro avg"]["f1-score"]), "macro F1",
               macro[1] if macro else "not found")
    case.finish()


if __name__ == "__main__":
    main()
