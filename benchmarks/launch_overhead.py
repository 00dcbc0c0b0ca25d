#!/usr/bin/env python3
"""What starting two ranks costs: `ranktune launch` and torchrun with a program that does nothing, in turn.

    benchmarks/launch_overhead.py [--repeat 10] [--ranks 2]

Prints minimum, median and maximum of the whole command's milliseconds. Nothing else should run meanwhile.
"""
import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranktune", type=Path, default=ROOT / "build" / "bin" / "ranktune")
    parser.add_argument("--python", type=Path, default=ROOT / ".deps" / "peer" / "bin" / "python",
                        help="interpreter that has torch")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=10)
    arguments = parser.parse_args()
    for program, remedy in ((arguments.ranktune, "./run build"), (arguments.python, "scripts/setup.sh peer")):
        if not program.exists():
            parser.error(f"{program} is absent; {remedy} makes it")
    return arguments


def milliseconds(command):
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        sys.exit(f"launch_overhead.py: {words} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return 1000 * (time.monotonic() - start)


def main():
    arguments = parse_arguments()
    ranks = ["--nproc-per-node", str(arguments.ranks)]
    commands = {"ranktune launch": [arguments.ranktune, "launch", *ranks, "true"],
                "torchrun": [arguments.python, "-m", "torch.distributed.run", *ranks, "--no-python", "true"]}
    times = {name: [] for name in commands}
    for _ in range(arguments.repeat):
        for name, command in commands.items():
            times[name].append(milliseconds(command))
    print(f"{arguments.ranks} ranks, {arguments.repeat} runs, ms {'minimum':>10} {'median':>10} {'maximum':>10}")
    for name, values in times.items():
        print(f"{name:<22} {min(values):>10.1f} {statistics.median(values):>10.1f} {max(values):>10.1f}")


if __name__ == "__main__":
    main()
