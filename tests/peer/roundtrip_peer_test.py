#!/usr/bin/env python3
"""transformers opens what ranktune wrote: weights, config, tokenizer; the same probabilities, the same keys in files."""
import io
import json
import logging

import torch
import transformers
from transformers import AutoModelForSequenceClassification, AutoTokenizer

import hf_reference as reference
from peer_case import PeerCase, read_json

# Entries that transformers writes with their defaults, whether or not the model's own config.json has them.
DEFAULTS = {"add_cross_attention", "bos_token_id", "classifier_dropout", "eos_token_id", "is_decoder",
            "tie_word_embeddings"}
# Left out of the comparison of values: the writer's version, and a switch of the Trainer's that text generation reads.
OTHER_VALUES = {"transformers_version", "use_cache"}
# Keys that ranktune's result files may have beside the Trainer's, and those of the Trainer's that they may lack
# (it drops total_flos itself when progress bars are off).
ADDITIONS = {"eval_macro_f1", "train_tokens_per_second", "eval_tokens_per_second", "seconds_to_first_step"}
OPTIONAL = {"total_flos"}


def open_with_transformers(case, output):
    """The model as transformers loads it; anything it has to say about tensors is a failure."""
    spoken = io.StringIO()
    handler = logging.StreamHandler(spoken)
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    transformers.utils.logging.set_verbosity_warning()
    model, info = AutoModelForSequenceClassification.from_pretrained(output, output_loading_info=True)
    tokenizer = AutoTokenizer.from_pretrained(output)
    logger.removeHandler(handler)
    for key in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        case.equal(f"transformers: {key}", sorted(info[key]), [])
    case.equal("transformers: warnings", spoken.getvalue(), "")
    return model.eval(), tokenizer


def compare_probabilities(case, output, model, tokenizer, rows):
    texts = case.folder / "texts.jsonl"
    texts.write_text("".join(json.dumps({"id": number, "sentence": text}) + "\n"
                             for number, (text, _) in enumerate(rows)))
    case.run("predict", "--model", output, "--file", texts, "--output", case.folder / "labels.jsonl", "--scores",
             "--use_cpu")
    lines = [json.loads(line) for line in (case.folder / "labels.jsonl").read_text().splitlines()]
    case.equal("predict: rows in order", [(line["id"], line["sentence"]) for line in lines],
               [(number, text) for number, (text, _) in enumerate(rows)])
    names = [model.config.id2label[number] for number in range(model.config.num_labels)]
    ours = torch.tensor([[line["scores"][name] for name in names] for line in lines], dtype=torch.float64)
    with torch.no_grad():
        logits = torch.cat([model(**tokenizer(text, truncation=True, max_length=128, return_tensors="pt")).logits
                            for text, _ in rows]).double()
    theirs = torch.log_softmax(logits, dim=1)
    worst = float((ours.log() - theirs).abs().max())
    case.check(worst <= 1e-4, "predict: log-probabilities", f"largest difference {worst:.3g} (allowed 1e-4)")
    winners = [names[number] for number in theirs.argmax(dim=1).tolist()]
    case.equal("predict: labels", [line["label"] for line in lines], winners)
    best = max(abs(line["score"] - float(row.exp().max())) for line, row in zip(lines, theirs))
    case.check(best <= 1e-4, "predict: score of the label", f"largest difference {best:.3g}")
    predictions = (output / "predict_results.txt").read_text().splitlines()
    case.equal("predict_results.txt", predictions,
               ["index\tprediction"] + [f"{number}\t{label}" for number, label in enumerate(winners)])


def compare_config(case, output, trainer_output):
    ours, theirs = read_json(output / "config.json"), read_json(trainer_output / "config.json")
    missing, added = sorted(set(theirs) - set(ours)), sorted(set(ours) - set(theirs))
    print(f"     config.json lacks {missing}, adds {added}")
    case.equal("config.json: keys", [key for key in missing if key not in DEFAULTS], [])
    common = sorted((set(ours) & set(theirs)) - OTHER_VALUES)
    case.equal("config.json: values", {key: ours[key] for key in common}, {key: theirs[key] for key in common})


def compare_keys(case, output, trainer_output):
    for name in ("all_results", "train_results", "eval_results", "trainer_state"):
        ours, theirs = (read_json(folder / f"{name}.json") for folder in (output, trainer_output))
        compare_key_sets(case, name, ours, theirs)
        if name != "trainer_state":
            continue
        for kind, mark in (("update", "grad_norm"), ("summary", "train_runtime")):
            entries = [next(entry for entry in state["log_history"] if mark in entry) for state in (ours, theirs)]
            compare_key_sets(case, f"{name}, {kind}", *entries)


def compare_key_sets(case, name, ours, theirs):
    missing, added = set(theirs) - set(ours) - OPTIONAL, set(ours) - set(theirs) - ADDITIONS
    case.check(not missing and not added, f"{name}: keys", f"lacks {sorted(missing)}, adds {sorted(added)}")


def main():
    case = PeerCase(__doc__)
    train_rows = reference.read_rows(case.data("sst2/train.tsv"), 256)
    dev_rows = reference.read_rows(case.data("sst2/dev.tsv"), 64)
    for name, rows in (("train", train_rows), ("dev", dev_rows)):
        reference.write_rows(case.folder / f"{name}.csv", rows)
    model_folder, output = reference.minilm_folder(), case.folder / "ranktune"
    settings = dict(per_device_train_batch_size=32, learning_rate=5e-5, num_train_epochs=1)
    case.train(output, model_name_or_path=model_folder, train_file=case.folder / "train.csv", do_predict=True,
               validation_file=case.folder / "dev.csv", test_file=case.folder / "dev.csv", **settings)
    trainer_output = case.folder / "trainer"
    reference.ReferenceRun(model_folder, train_rows[:32], dev_rows, ["0", "1"], trainer_output,
                           **settings).run(evaluate_before=False, save=True)
    model, tokenizer = open_with_transformers(case, output)
    original = AutoTokenizer.from_pretrained(model_folder)
    texts = [text for text, _ in dev_rows] + ["Caf\u00e9 \u4e2d\u6587 isn't [MASK] done!", ""]
    case.equal("tokens", [tokenizer(text, padding=False)["input_ids"] for text in texts],
               [original(text, padding=False)["input_ids"] for text in texts])
    compare_probabilities(case, output, model, tokenizer, dev_rows)
    compare_config(case, output, trainer_output)
    compare_keys(case, output, trainer_output)
    case.finish()


if __name__ == "__main__":
    main()
