#!/usr/bin/env python3
"""Figures that transformers.Trainer logged for ten written-out sentences and the real model, kept here as numbers;
and the values that a fresh head has for a seed. Nothing is trained by transformers in this test.
"""
from safetensors.torch import load_file

import hf_reference as reference
from peer_case import PeerCase, column, logged_steps, read_json

ROWS = [("a warm and funny film", "1"), ("the plot is a mess", "0"), ("dull from start to finish", "0"),
        ("a great cast wasted", "0"), ("i loved every scene", "1"), ("it bored me", "0"),
        ("one of the best of the year", "1"), ("flat jokes and worse acting", "0"),
        ("a quiet , moving story", "1"), ("too long by an hour", "0")]
SETTINGS = dict(learning_rate=5e-5, weight_decay=0.01, warmup_steps=0.1, num_train_epochs=2, seed=42)

# Batch size: (loss, gradient norm, learning rate) of each update, and the loss of the ten rows afterwards.
LOGGED = {
    4: ([(0.69326150, 0.6004405, 0), (0.69428724, 0.6545827, 5e-5), (0.69640481, 2.5206645, 4e-5),
         (0.67557907, 1.3134794, 3e-5), (0.66885382, 1.2746739, 2e-5), (0.65267563, 2.4371605, 1e-5)], 0.65795404),
    8: ([(0.69377440, 0.4616085, 0), (0.69677424, 2.5101078, 5e-5), (0.68413961, 0.4345637, 5e-5 * 2 / 3),
         (0.64781988, 2.4049745, 5e-5 / 3)], 0.66503179),
}
LOSS_BEFORE = 0.69437438

# (seed, labels): the first five values of the head's weight, and the last one where it is known.
HEADS = {
    (42, 2): ([0.03853830322623253, 0.02974568121135235, 0.018014343455433846, -0.042110417038202286,
               0.01356836874037981], 0.011523175053298473),
    (42, 3): ([0.03853830322623253, 0.02974568121135235, 0.018014343455433846, -0.042110417038202286,
               0.01356836874037981], -0.0049542710185050964),
    (1, 2): ([-0.030511917546391487, -0.015004635788500309, -0.013079618103802204, -0.03218969330191612,
              -0.002003343543037772], None),
}


def compare_losses(case, model, data, batch):
    updates, loss_after = LOGGED[batch]
    output = case.folder / f"batch{batch}"
    case.train(output, model_name_or_path=model, train_file=data, validation_file=data,
               per_device_train_batch_size=batch, **SETTINGS)
    steps = logged_steps(output)
    case.near(f"batch {batch}: loss", column(steps, "loss"), [update[0] for update in updates], 1e-5)
    case.near(f"batch {batch}: grad_norm", column(steps, "grad_norm"), [update[1] for update in updates], 1e-3)
    rates = [abs(step["learning_rate"] - update[2]) for step, update in zip(steps, updates)]
    case.check(max(rates) < 1e-12, f"batch {batch}: learning_rate", column(steps, "learning_rate"))
    case.near(f"batch {batch}: eval_loss", [read_json(output / "eval_results.json")["eval_loss"]], [loss_after], 1e-4)


def compare_head(case, model, seed, labels):
    """A learning rate of 0 leaves the head as it was drawn."""
    name = f"seed {seed}, {labels} labels"
    rows = ROWS + [("neither good nor bad", "2")] * (labels - 2)
    data = case.folder / f"rows{labels}.csv"
    reference.write_rows(data, rows)
    output = case.folder / f"head{seed}_{labels}"
    case.train(output, model_name_or_path=model, train_file=data, validation_file=data, max_steps=1, learning_rate=0,
               seed=seed)
    tensors = load_file(output / "model.safetensors")
    weight = tensors["classifier.weight"].double()
    case.equal(f"{name}: shape", list(weight.shape), [labels, 384])
    first, last = HEADS[seed, labels]
    known = list(zip(weight.flatten()[:5].tolist(), first))
    if last is not None:
        known.append((float(weight[-1, -1]), last))
    worst = max(abs(ours - theirs) for ours, theirs in known)
    case.check(worst <= 3e-8, f"{name}: head", f"largest difference {worst:.3g} (allowed 3e-8)")
    case.equal(f"{name}: bias", tensors["classifier.bias"].tolist(), [0.0] * labels)
    if (seed, labels) == (42, 2):
        loss = read_json(output / "eval_results.json")["eval_loss"]
        case.near("eval_loss before training", [loss], [LOSS_BEFORE], 1e-5)


def main():
    case = PeerCase(__doc__)
    model = reference.copy_model(reference.minilm_folder(), case.folder / "model", **reference.NO_DROPOUT)
    data = case.folder / "rows.csv"
    reference.write_rows(data, ROWS)
    for batch in LOGGED:
        compare_losses(case, model, data, batch)
    for seed, labels in HEADS:
        compare_head(case, model, seed, labels)
    case.finish()


if __name__ == "__main__":
    main()
