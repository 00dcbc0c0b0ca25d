#!/usr/bin/env python3
"""Writes tests/fixtures/schedules/schedules.json: learning rates of 500 updates by transformers.get_scheduler, and those
that torch's ReduceLROnPlateau gives for a series of losses.

Needs torch and transformers: run it with .deps/peer/bin/python.
"""

import json
import pathlib

import torch
from transformers import get_scheduler

FILE = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "schedules" / "schedules.json"
UPDATES = 500
RATE = 3e-4

# type, keyword arguments, updates of warm-up, all updates
CASES = [
    ("linear", {}, 50, 500), ("linear", {}, 0, 450), ("constant", {}, 50, 500), ("constant_with_warmup", {}, 33, 500),
    ("cosine", {}, 50, 500), ("cosine", {"num_cycles": 1.25}, 7, 480),
    ("cosine_with_restarts", {}, 50, 500), ("cosine_with_restarts", {"num_cycles": 3}, 20, 490),
    ("polynomial", {}, 50, 500), ("polynomial", {"lr_end": 1e-5, "power": 2.0}, 10, 460),
    ("inverse_sqrt", {}, 50, 500), ("inverse_sqrt", {}, 0, 500), ("inverse_sqrt", {"timescale": 200}, 25, 500),
    ("cosine_with_min_lr", {"min_lr": 3e-5}, 50, 500),
    ("cosine_with_min_lr", {"min_lr_rate": 0.2, "num_cycles": 0.8}, 0, 500),
    ("cosine_warmup_with_min_lr", {"min_lr_rate": 0.1}, 50, 500),
    ("cosine_warmup_with_min_lr", {"min_lr": 1e-5, "warmup_lr_rate": 0.05, "num_cycles": 0.4}, 40, 470),
    ("warmup_stable_decay", {"num_decay_steps": 100}, 50, 500),
    ("warmup_stable_decay", {"num_decay_steps": 120, "num_stable_steps": 200, "min_lr_ratio": 0.1, "warmup_type": "cosine",
                             "decay_type": "linear"}, 60, 500),
    ("warmup_stable_decay", {"num_decay_steps": 150, "warmup_type": "1-sqrt", "decay_type": "1-sqrt"}, 30, 400),
    ("warmup_stable_decay", {"num_decay_steps": 600, "decay_type": "cosine", "num_cycles": 0.3}, 30, 500),
]

LOSSES = [0.70, 0.65, 0.66, 0.64999, 0.649, 0.655, 0.66, 0.7, 0.61, 0.62, 0.63, 0.61, 0.64, 0.60, 0.60, 0.60, 0.60, 0.5,
          0.51, 0.52, 0.53, 0.54, 0.55, 0.56, 0.57, 0.58, 0.59, 0.60]
PLATEAUS = [{}, {"patience": 1}, {"patience": 2, "factor": 0.5, "cooldown": 2}, {"patience": 0, "min_lr": 2e-5},
            {"patience": 1, "threshold": 0.005, "threshold_mode": "abs"}, {"patience": 1, "mode": "max"},
            {"patience": 0, "factor": 0.5, "eps": 1e-4}]


def optimizer():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=RATE)


def rates(kind, kwargs, warmup, total):
    sgd = optimizer()
    schedule = get_scheduler(kind, sgd, warmup, total, scheduler_specific_kwargs=kwargs)
    found = []
    for _ in range(UPDATES):
        found.append(sgd.param_groups[0]["lr"])
        sgd.step()
        schedule.step()
    return found


def plateau(kwargs):
    sgd = optimizer()
    schedule = get_scheduler("reduce_lr_on_plateau", sgd, scheduler_specific_kwargs=kwargs)
    found = []
    for loss in LOSSES:
        schedule.step(loss)
        found.append(sgd.param_groups[0]["lr"])
    return found


def main():
    content = {
        "learning_rate": RATE,
        "schedules": [{"type": kind, "kwargs": kwargs, "warmup": warmup, "total": total,
                       "rates": rates(kind, kwargs, warmup, total)} for kind, kwargs, warmup, total in CASES],
        "losses": LOSSES,
        "plateaus": [{"kwargs": kwargs, "rates": plateau(kwargs)} for kwargs in PLATEAUS]}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(content, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
