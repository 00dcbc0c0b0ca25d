#!/usr/bin/env python3
"""Whether two trainings logged the same losses.

    compare_losses.py FOLDER FOLDER TOLERANCE STEPS

Each FOLDER holds a trainer_state.json with a loss for each of STEPS steps. Prints the largest relative difference, or
the first step whose losses differ by more than TOLERANCE; exit code 1 then, and where a loss is missing.
"""
import json
import sys
from pathlib import Path


def losses_of(folder):
    history = json.loads((Path(folder) / "trainer_state.json").read_text())["log_history"]
    return {entry["step"]: entry["loss"] for entry in history if "loss" in entry}


def difference(one, other):
    return abs(one - other) / max(abs(one), abs(other), 1e-12)


def main(first, second, tolerance, steps):
    mine, theirs = losses_of(first), losses_of(second)
    wanted = set(range(1, int(steps) + 1))
    for folder, losses in ((first, mine), (second, theirs)):
        if set(losses) != wanted:
            return f"{folder} has losses of {len(losses)} steps, not of {steps}"
    for step in sorted(wanted):
        # Said this way round a loss that is no number differs, too.
        if not difference(mine[step], theirs[step]) <= float(tolerance):
            return f"step {step}: loss {mine[step]} in {first}, {theirs[step]} in {second}"
    largest = max(difference(mine[step], theirs[step]) for step in wanted)
    print(f"{steps} losses, from {mine[1]:.4f} to {mine[int(steps)]:.4f}; largest relative difference {largest:.1e}")
    return None


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
