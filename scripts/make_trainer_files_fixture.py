#!/usr/bin/env python3
"""Writes tests/fixtures/config/ and tests/fixtures/trainer_state/: what transformers puts into its files.

config/cases.json holds config.json texts that were read, and the texts that a trained classifier then saved.
trainer_state/keys.json holds the keys of the files of one short run. Needs transformers 5.24 and torch.
"""

import json
import pathlib
import tempfile

import torch
from transformers import AutoConfig, BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures"
TINY = {"model_type": "bert", "vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 16, "max_position_embeddings": 16}
CASES = [
    ("only the sizes", TINY, None, None),
    ("keys of an old encoder", {
        **TINY, "_name_or_path": "someone/some-encoder", "architectures": ["BertModel"], "gradient_checkpointing": False,
        "hidden_dropout_prob": 0.1, "initializer_range": 0.02, "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "position_embedding_type": "absolute", "transformers_version": "4.8.2", "use_cache": True}, None,
     "single_label_classification"),
    ("named labels, unknown keys", {
        **TINY, "torch_dtype": "float32", "pruned_heads": {}, "my_key": {"b": [1, 2.5e-7, None], "a": "ü"},
        "hidden_dropout_prob": 0, "classifier_dropout": 0.25, "bos_token_id": 3}, ["neg", "é", "x y"],
     "single_label_classification"),
    ("twelve labels", {**TINY, "output_hidden_states": False, "chunk_size_feed_forward": 0, "hidden_act": "relu"},
     [f"label {i}" for i in range(12)], "single_label_classification"),
    ("regression", {**TINY, "pad_token_id": None, "layer_norm_eps": 1e-5}, ["score"], "regression"),
]


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, i):
        return {"input_ids": torch.tensor([1, 2 + i, 3]), "attention_mask": torch.ones(3, dtype=torch.long),
                "labels": torch.tensor(i % 2)}


def saved_config(values, labels, problem_type, folder):
    path = pathlib.Path(folder)
    (path / "config.json").write_text(json.dumps(values, indent=2))
    extra = {}
    if labels:
        extra = {"id2label": dict(enumerate(labels)), "label2id": {name: i for i, name in enumerate(labels)}}
    config = AutoConfig.from_pretrained(path, **extra)
    config.use_cache = False  # the Trainer does both of these
    config.problem_type = problem_type
    BertForSequenceClassification(config).save_pretrained(path / "out")
    return (path / "out" / "config.json").read_text()


def write_config_cases():
    cases = []
    for name, values, labels, problem_type in CASES:
        with tempfile.TemporaryDirectory() as folder:
            cases.append({"name": name, "input": json.dumps(values, indent=2), "labels": labels,
                          "problem_type": problem_type,
                          "output": saved_config(values, labels, problem_type, folder)})
    (FIXTURES / "config" / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")


def run_trainer(folder):
    model = BertForSequenceClassification(BertConfig(**{k: v for k, v in TINY.items() if k != "model_type"}))
    arguments = TrainingArguments(output_dir=folder, per_device_train_batch_size=4, num_train_epochs=1.5, logging_steps=2,
                                  eval_strategy="epoch", save_strategy="epoch", report_to=[], use_cpu=True)
    trainer = Trainer(model=model, args=arguments, train_dataset=Rows(), eval_dataset=Rows(),
                      compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())})
    metrics = trainer.train().metrics
    metrics["train_samples"] = 10
    trainer.save_metrics("train", metrics)
    trainer.save_state()
    metrics = trainer.evaluate()
    metrics["eval_samples"] = 10
    trainer.save_metrics("eval", metrics)


def shape_of(value):
    """Keys of objects, kinds of values: what a file looks like without its figures."""
    if isinstance(value, dict):
        return {key: shape_of(member) for key, member in value.items()}
    if isinstance(value, list):
        return [shape_of(member) for member in value]
    return type(value).__name__


def write_trainer_keys():
    with tempfile.TemporaryDirectory() as folder:
        run_trainer(folder)
        names = ["trainer_state.json", "train_results.json", "eval_results.json", "all_results.json"]
        texts = {name: (pathlib.Path(folder) / name).read_text() for name in names}
    shapes = {name: shape_of(json.loads(text)) for name, text in texts.items()}
    for name, text in texts.items():
        shapes[name + " style"] = {"indent": len(text.split("\n")[1]) - len(text.split("\n")[1].lstrip()),
                                   "final_newline": text.endswith("\n")}
    (FIXTURES / "trainer_state" / "keys.json").write_text(json.dumps(shapes, indent=1, sort_keys=True) + "\n")


def main() -> None:
    for name in ["config", "trainer_state"]:
        (FIXTURES / name).mkdir(parents=True, exist_ok=True)
    write_config_cases()
    write_trainer_keys()


if __name__ == "__main__":
    main()
