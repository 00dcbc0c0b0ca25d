#!/usr/bin/env python3
"""ranktune's tokenizer and the `tokenizers` package side by side, on one thread each, over the same texts.

    .deps/peer/bin/python benchmarks/tokenizer_vs_peer.py [--program build/bin/tokenizer_benchmark] [--shared ../shared]

The package runs as fast as it can: whole batches, without offsets, its threads off. Both sides count the seconds of the
processor and take their best round of five, in turn.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
from tokenizers import Tokenizer  # noqa: E402  (reads the variable above)

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 5


def column(path, number, delimiter=","):
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = list(csv.reader(file, delimiter=delimiter, quoting=quoting))[1:]
    return [" ".join(row[number].split()) for row in rows]


def lines(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def text_sets(data):
    """Name -> (tokenizer folder, texts)."""
    uncased, multilingual = "bert-base-uncased", "bert-multilingual-uncased"
    sst2 = column(data / "sst2/train.tsv", 0, "\t")
    sets = {
        "sst2": (uncased, sst2),
        "sst2_in_500s": (uncased, [" ".join(sst2[i : i + 10]) for i in range(0, len(sst2), 10)]),
        "airline_tweets": (uncased, column(data / "messy_csv/airline_tweets/Tweets.csv", 3)),
        "banking77": (uncased, column(data / "banking77/train.csv", 0)),
    }
    for language in ("french", "hindi", "arabic"):
        file = data / "xlmt" / language / "train_text.txt"
        if file.exists():
            sets[f"tweets_{language}"] = (multilingual, lines(file))
    return sets


def peer_seconds(tokenizer, texts):
    start = time.process_time()
    tokenizer.encode_batch_fast(texts)
    return time.process_time() - start


def own_rate(program, folder, file):
    """Bytes per second."""
    flags = ["--benchmark_format=json", "--benchmark_filter=encode", "--benchmark_min_time=0.3"]
    command = [program, *flags, folder, file]
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["benchmarks"][0]["bytes_per_second"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/bin/tokenizer_benchmark")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT.parent / "shared", help="folder with data sets")
    arguments = parser.parse_args()
    data = arguments.shared / "data"
    print(f"{'texts':18}{'number':>8}{'MB':>7}{'ranktune MB/s':>15}{'tokenizers MB/s':>17}{'ratio':>8}")
    with tempfile.TemporaryDirectory(prefix="ranktune-bench-") as scratch:
        for name, (folder, texts) in text_sets(data).items():
            file = pathlib.Path(scratch) / f"{name}.txt"
            file.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
            size = sum(len(text.encode()) for text in texts)
            folder = data / "tokenizers" / folder
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            own = peer = 0.0
            for _ in range(ROUNDS):
                own = max(own, own_rate(arguments.program, folder, file))
                peer = max(peer, size / peer_seconds(tokenizer, texts))
            print(f"{name:18}{len(texts):8}{size / 1e6:7.2f}{own / 1e6:15.1f}{peer / 1e6:17.2f}{own / peer:8.1f}",
                  flush=True)


if __name__ == "__main__":
    main()
