#!/usr/bin/env python3
"""Writes tests/fixtures: a tiny BERT with what transformers computes from it, for the C++ tests to compare with.

    .deps/peer/bin/python scripts/make_fixtures.py [folder]

Needs transformers 5.24 and torch 2.13 (`./run test peer` installs them). All draws are seeded and one thread
computes, so a second run on the same machine writes the same bytes; another processor may change last digits.
tests/fixtures/README.md describes the files.
"""
import json
import random
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "peer"))

import numpy  # noqa: E402
import torch  # noqa: E402
from safetensors.torch import save_file  # noqa: E402
from transformers import (AutoModelForSequenceClassification, AutoTokenizer, BertConfig,  # noqa: E402
                          BertForSequenceClassification, BertModel, BertTokenizer, set_seed)

import hf_reference as reference  # noqa: E402

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
GLAD = ["warm", "bright", "fresh", "lovely", "kind", "sweet", "calm"]
SAD = ["cold", "grim", "stale", "dull", "harsh", "bitter", "loud"]
PLAIN = ["the", "a", "tea", "soup", "room", "music", "street", "was", "is", "and", "but", "very", "not", "we", "it",
         "found", "had", "today", "walk", "rain"]
OTHERS = ["Zebras", "walked", "raining", "caf\u00e9", "\u4e2d", "don't", "x-ray"]
PIECES = ["##ly", "##er", "##est", "##ing", "##ed", "##s"]
VOCABULARY = (SPECIAL + list(".,!?'-") + list(LETTERS) + ["##" + letter for letter in LETTERS]
              + GLAD + SAD + PLAIN + PIECES)
SHAPE = dict(vocab_size=len(VOCABULARY), hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
             intermediate_size=40, max_position_embeddings=64, type_vocab_size=2, hidden_dropout_prob=0.0,
             attention_probs_dropout_prob=0.0)
LABELS = ["sad", "glad"]


def short(values):
    """A float32 tensor as a flat list whose decimals are the shortest that give the same float32 again."""
    return [float(str(numpy.float32(value))) for value in torch.as_tensor(values).detach().reshape(-1).tolist()]


def write_json(path, value):
    """Objects one entry a line, lists of numbers on one line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    text = re.sub(r"\[\s+([-0-9.e+,\s]+?)\s+\]", lambda found: "[" + re.sub(r"\s+", "", found[1]) + "]", text)
    path.write_text(text + "\n", encoding="utf-8")


def write_tensors(path, tensors):
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    path.chmod(0o644)


def randomise(model, seed):
    """No bias stays 0 and no scale stays 1: a term that is left out must show."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.empty_like(parameter).normal_(0, 1, generator=generator)
        if "LayerNorm.weight" in name:
            parameter.data = 1 + 0.2 * noise
        elif name.endswith("bias"):
            parameter.data = 0.2 * noise
        else:
            parameter.data = (0.6 if "word_embeddings" in name else 0.3) * noise


def write_models(folder):
    """tiny_bert: an encoder alone. tiny_bert_classifier: the same encoder with a head for three labels."""
    encoder = BertModel(BertConfig(**SHAPE))
    randomise(encoder, 1)
    classifier = BertForSequenceClassification(BertConfig(**SHAPE, num_labels=3))
    randomise(classifier, 2)
    classifier.bert.load_state_dict(encoder.state_dict())
    for name, model in (("tiny_bert", encoder), ("tiny_bert_classifier", classifier)):
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        (target / "vocab.txt").write_text("".join(word + "\n" for word in VOCABULARY))
        tokenizer = BertTokenizer(vocab=str(target / "vocab.txt"), model_max_length=64)
        tokenizer.save_pretrained(target)
        model.save_pretrained(target)
        (target / "model.safetensors").chmod(0o644)
    (folder / "tiny_bert_classifier" / "tokenizer.json").unlink()  # this one is read from vocab.txt


def token_rows():
    """Rows of 1 to 64 tokens, the last two with segment ids of a pair."""
    draw = random.Random(3)
    rows = [[draw.randrange(len(VOCABULARY)) for _ in range(length)] for length in (1, 2, 7, 33, 64, 19, 40)]
    segments = [[0] * len(row) for row in rows[:5]] + [[0] * 8 + [1] * 11, [0] * 39 + [1]]
    return [{"ids": ids, "type_ids": types} for ids, types in zip(rows, segments)]


def alone(row):
    """Arguments of a forward pass over one row without padding."""
    return {"input_ids": torch.tensor([row["ids"]]), "token_type_ids": torch.tensor([row["type_ids"]]),
            "attention_mask": torch.ones(1, len(row["ids"]), dtype=torch.long)}


def write_forward(folder):
    source = folder / "tiny_bert_classifier"
    rows = token_rows()
    result = {"rows": rows}
    with torch.no_grad():
        for activation in ("gelu", "gelu_new", "relu"):
            model = BertForSequenceClassification.from_pretrained(source, hidden_act=activation).eval()
            logits = torch.cat([model(**alone(row)).logits for row in rows])
            exact = torch.cat([model.double()(**alone(row)).logits for row in rows])
            check("logits, " + activation, logits, exact, 2e-6)
            result["logits_" + activation] = short(logits)
        model = BertForSequenceClassification.from_pretrained(source).eval()
        outputs = [model.bert(**alone(row)) for row in rows]
        result["last_hidden_states"] = [short(output.last_hidden_state) for output in outputs]
        result["pooler_outputs"] = [short(output.pooler_output) for output in outputs]
        layers = model.bert(**alone(rows[2]), output_hidden_states=True).hidden_states
        result["layers_of_row_2"] = [short(layer) for layer in layers]
    write_json(folder / "forward.json", result)


def gradients(model, rows, labels):
    """Loss and gradients of one padded batch, as the Trainer computes them."""
    longest = max(len(row["ids"]) for row in rows)

    def pad(values):
        return torch.tensor([row + [0] * (longest - len(row)) for row in values])
    model.zero_grad()
    output = model(input_ids=pad([row["ids"] for row in rows]), token_type_ids=pad([row["type_ids"] for row in rows]),
                   attention_mask=pad([[1] * len(row["ids"]) for row in rows]), labels=labels)
    output.loss.backward()
    return output, {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


def write_gradients(folder):
    """Mean cross-entropy of tiny_bert_classifier; mean squared error of tiny_bert with the head of seed 42."""
    rows = [token_rows()[index] for index in (2, 5, 1, 3, 6)]
    result = {"rows": rows}
    set_seed(42)
    regressor = AutoModelForSequenceClassification.from_pretrained(folder / "tiny_bert", num_labels=1)
    classifier = BertForSequenceClassification.from_pretrained(folder / "tiny_bert_classifier")
    cases = (("classification", classifier, torch.tensor([2, 0, 1, 1, 2])),
             ("regression", regressor, torch.tensor([0.5, -1.25, 3.0, 0.0, 2.0])))
    for name, model, labels in cases:
        model.train()
        output, found = gradients(model, rows, labels)
        result[name] = {"labels": labels.tolist(), "loss": short(output.loss)[0], "logits": short(output.logits),
                        "head_weight": short(model.classifier.weight), "head_bias": short(model.classifier.bias),
                        "gradient_norm": float(torch.stack([g.double().norm() for g in found.values()]).norm())}
        write_tensors(folder / f"gradients_{name}.safetensors", found)
        _, exact = gradients(model.double(), rows, labels.double() if name == "regression" else labels)
        for parameter, gradient in found.items():
            scale = max(1.0, float(exact[parameter].abs().max()))
            check(f"gradient of {parameter}", gradient, exact[parameter], 2e-6 * scale)
    write_json(folder / "gradients.json", result)


def check(what, found, exact, tolerance):
    """A fixture whose float32 values are far from the float64 ones would test rounding, not the program."""
    difference = float((found.double() - exact).abs().max())
    if difference > tolerance:
        raise SystemExit(f"{what}: float32 differs from float64 by {difference:.2g}, more than {tolerance:.2g}")


def sentences(count, seed):
    """Invented sentences; most labels follow from the words, some do not."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        label = draw.randrange(2)
        words = [draw.choice(PLAIN) for _ in range(draw.choice([1, 2, 3, 5, 8, 12, 20]))]
        for _ in range(draw.choice([1, 1, 2])):
            word = draw.choice((SAD, GLAD)[label]) + draw.choice(["", "", "er", "est", "ly"])
            words.insert(draw.randrange(len(words) + 1), word)
        if draw.random() < 0.1:
            label = 1 - label
        if draw.random() < 0.3:
            words.insert(draw.randrange(len(words) + 1), draw.choice(OTHERS))
        text = " ".join(words) + draw.choice(["", ".", " .", "!", "?"])
        rows.append((text.capitalize() if draw.random() < 0.5 else text, LABELS[label]))
    return rows


# The gradient of a key bias is 0 but for rounding (softmax does not see it), and with Adam's default epsilon of 1e-8
# its noise moves the bias by up to the learning rate. The golden runs have a larger epsilon, so that all their
# weights can be compared; the others keep the default.
GOLDEN = dict(rows=64, num_train_epochs=3, learning_rate=4e-3, weight_decay=0.01, adam_epsilon=1e-6, warmup_steps=0.1,
              max_grad_norm=1.0)
RUNS = {
    "golden": dict(GOLDEN, per_device_train_batch_size=8),
    "golden_accumulated": dict(GOLDEN, per_device_train_batch_size=4, gradient_accumulation_steps=2),
    "constant": dict(rows=64, per_device_train_batch_size=8, max_steps=20, learning_rate=2e-3, weight_decay=0.1,
                     adam_beta1=0.8, adam_beta2=0.99, lr_scheduler_type="constant", max_grad_norm=0.0),
    "ragged": dict(rows=61, per_device_train_batch_size=8, num_train_epochs=1.5, learning_rate=4e-3,
                   weight_decay=0.01, warmup_steps=2, max_grad_norm=0.5, seed=7),
    "smoothed": dict(rows=60, per_device_train_batch_size=4, gradient_accumulation_steps=2, max_steps=12,
                     learning_rate=2e-3, warmup_steps=2, lr_scheduler_type="cosine", label_smoothing_factor=0.2),
}
WITH_WEIGHTS = ("golden", "ragged")
MAX_LENGTH = 16


def write_training(folder):
    target = folder / "training"
    target.mkdir(exist_ok=True)
    train_rows, eval_rows = sentences(64, 11), sentences(21, 12)
    reference.write_rows(target / "train.csv", train_rows)
    reference.write_rows(target / "dev.csv", eval_rows)
    tokenizer = AutoTokenizer.from_pretrained(folder / "tiny_bert")
    write_json(target / "dev_tokens.json", [item["input_ids"] for item in
                                            reference.encode(tokenizer, eval_rows, sorted(LABELS), MAX_LENGTH)])
    labels = sorted(LABELS)
    model = folder / "tiny_bert"
    for name, settings in RUNS.items():
        arguments = dict(settings)
        rows = train_rows[:arguments.pop("rows")]
        with tempfile.TemporaryDirectory() as output:
            run = reference.ReferenceRun(model, rows, eval_rows, labels, output, max_length=MAX_LENGTH, **arguments)
            run.run()
        write_json(target / f"{name}.json", describe(settings, run))
        if name in WITH_WEIGHTS:
            write_tensors(target / f"{name}_weights.safetensors", run.weights())
    with tempfile.TemporaryDirectory() as output:
        run = reference.ReferenceRun(model, train_rows, eval_rows, labels, output, max_length=MAX_LENGTH,
                                     eval_strategy="epoch", num_train_epochs=1)
        run.run(evaluate_before=False, save=True)
        write_written_files(target, Path(output))


def describe(settings, run):
    arguments = {"seed": 42, **{key: value for key, value in settings.items() if key != "rows"}}
    arguments.update(max_train_samples=settings["rows"], max_seq_length=MAX_LENGTH)
    keep = ("eval_loss", "eval_accuracy")
    return {"arguments": arguments, "labels": sorted(LABELS),
            "head_weight": short(run.initial_head["weight"]), "head_bias": short(run.initial_head["bias"]),
            "eval_before": {key: run.eval_before[key] for key in keep},
            "history": [{key: entry[key] for key in ("step", "epoch", "loss", "grad_norm", "learning_rate")}
                        for entry in run.history],
            "train_loss": run.train_metrics["train_loss"], "epoch": run.train_metrics["epoch"],
            "eval_after": {key: run.eval_after[key] for key in keep}}


def write_written_files(target, output):
    """What transformers leaves in the output folder: config.json as it is, and the keys of the other JSON files."""
    (target / "config.json").write_bytes((output / "config.json").read_bytes())
    keys = {}
    for name in ("all_results", "train_results", "eval_results", "trainer_state"):
        content = json.loads((output / f"{name}.json").read_text())
        keys[name + ".json"] = sorted(content)
        if name == "trainer_state":
            history = content["log_history"]
            keys["log_history, step"] = sorted(next(entry for entry in history if "grad_norm" in entry))
            keys["log_history, evaluation"] = sorted(next(entry for entry in history if "eval_loss" in entry))
            keys["log_history, summary"] = sorted(next(entry for entry in history if "train_runtime" in entry))
            keys["stateful_callbacks"] = content["stateful_callbacks"]
    write_json(target / "keys.json", keys)


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests" / "fixtures"
    torch.set_num_threads(1)
    write_models(folder)
    write_forward(folder)
    write_gradients(folder)
    write_training(folder)
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder}: {total / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
