#!/usr/bin/env python3
"""Writes tests/fixtures/sampling/*.json: whose rows each rank gets, by torch's DistributedSampler and accelerate's
BatchSamplerShard, in 200 random cases of each.

Needs torch and accelerate: run it with .deps/peer/bin/python.
"""

import json
import pathlib
import random

from accelerate.data_loader import BatchSamplerShard
from torch.utils.data import BatchSampler, DistributedSampler, SequentialSampler

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "sampling"
CASES = 200


def distributed_case(rng):
    rows, ranks = rng.randint(1, 70), rng.randint(1, 6)
    shuffle, drop_last = rng.random() < 0.7, rng.random() < 0.5
    seed, epoch = rng.randint(0, 5000), rng.randint(0, 4)
    orders = []
    for rank in range(ranks):
        sampler = DistributedSampler(range(rows), ranks, rank, shuffle=shuffle, seed=seed, drop_last=drop_last)
        sampler.set_epoch(epoch)
        orders.append(list(sampler))
    return {"rows": rows, "ranks": ranks, "shuffle": shuffle, "drop_last": drop_last, "seed": seed, "epoch": epoch,
            "orders": orders}


def sharding_case(rng):
    rows, ranks, batch = rng.randint(0, 70), rng.randint(1, 6), rng.randint(1, 9)
    split, even, drop_last = rng.random() < 0.3, rng.random() < 0.6, rng.random() < 0.3
    base = BatchSampler(SequentialSampler(range(rows)), batch * ranks if split else batch, drop_last)
    shards = [list(BatchSamplerShard(base, ranks, rank, split_batches=split, even_batches=even))
              for rank in range(ranks)]
    return {"rows": rows, "ranks": ranks, "per_device_batch": batch, "split_batches": split, "even_batches": even,
            "drop_last": drop_last, "batches": shards}


def write(name, make_case, seed):
    rng = random.Random(seed)
    lines = ",\n".join(json.dumps(make_case(rng), separators=(",", ":")) for _ in range(CASES))
    (FOLDER / name).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    write("distributed_sampler.json", distributed_case, 11)
    write("batch_sampler_shard.json", sharding_case, 12)


if __name__ == "__main__":
    main()
