#!/usr/bin/env python3
"""20 updates of the real model on SST-2, by transformers.Trainer and by ranktune: the same losses and weights.

Dropout is off and the head starts from the same seed. Once with batches of 32, once with 4 batches of 8 an update.
"""
from safetensors.torch import load_file

import hf_reference as reference
from peer_case import PeerCase, column, logged_steps, read_json

SETTINGS = dict(learning_rate=5e-5, weight_decay=0.01, warmup_steps=0.1, num_train_epochs=1, seed=42)


def compare(case, model, train_rows, dev_rows, batch, accumulation):
    name = f"batch {batch} x {accumulation}"
    sizes = dict(per_device_train_batch_size=batch, gradient_accumulation_steps=accumulation,
                 per_device_eval_batch_size=64)
    run = reference.ReferenceRun(model, train_rows, dev_rows, ["0", "1"], case.folder / f"trainer{batch}",
                                 **SETTINGS, **sizes)
    run.run(evaluate_before=False)
    output = case.folder / f"ranktune{batch}"
    case.train(output, model_name_or_path=model, train_file=case.folder / "train.csv",
               validation_file=case.folder / "dev.csv", max_seq_length=128, **SETTINGS, **sizes)
    steps = logged_steps(output)
    for key, tolerance in (("loss", 1e-4), ("grad_norm", 1e-3)):
        case.near(f"{name}: {key}", column(steps, key), column(run.history, key), tolerance)
    for key in ("step", "epoch", "learning_rate"):
        case.equal(f"{name}: {key}", column(steps, key), column(run.history, key))
    results = read_json(output / "all_results.json")
    case.near(f"{name}: train_loss", [results["train_loss"]], [run.train_metrics["train_loss"]], 1e-4)
    case.near(f"{name}: eval_loss", [results["eval_loss"]], [run.eval_after["eval_loss"]], 1e-4)
    case.near(f"{name}: eval_accuracy", [results["eval_accuracy"]], [run.eval_after["eval_accuracy"]], 1e-9)
    apart = reference.distance(load_file(output / "model.safetensors"), run.weights())
    case.check(apart <= 1e-4, f"{name}: all weights together", f"relative distance {apart:.3g} (allowed 1e-4)")
    print(f"     first and last loss {steps[0]['loss']:.6f} {steps[-1]['loss']:.6f}, "
          f"accuracy {results['eval_accuracy']:.4f}")


def main():
    case = PeerCase(__doc__)
    train_rows = reference.read_rows(case.data("sst2/train.tsv"), 640)
    dev_rows = reference.read_rows(case.data("sst2/dev.tsv"), 300)
    reference.write_rows(case.folder / "train.csv", train_rows)
    reference.write_rows(case.folder / "dev.csv", dev_rows)
    model = reference.copy_model(reference.minilm_folder(), case.folder / "model", **reference.NO_DROPOUT)
    compare(case, model, train_rows, dev_rows, 32, 1)
    compare(case, model, train_rows, dev_rows, 8, 4)
    case.finish()


if __name__ == "__main__":
    main()
