#!/usr/bin/env python3
"""Writes tests/fixtures/safetensors/: one tensor or two of every type, saved by the Python package.

The values are a rule that tests/models/safetensors_test.cpp repeats. Needs torch and safetensors.
"""

import pathlib

import safetensors.torch
import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "safetensors"
DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
    "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, dtype in DTYPES.items():
        tensors["z." + name] = torch.arange(3).to(dtype)
        tensors["a." + name] = torch.ones(2, 1).to(dtype)
    tensors["empty"] = torch.zeros(0, 4)
    tensors["scalar"] = torch.tensor(2.5)
    tensors["odd \"näme\"\t"] = torch.zeros(1)
    safetensors.torch.save_file(tensors, FOLDER / "every_type.safetensors", metadata={"format": "pt"})
    safetensors.torch.save_file({}, FOLDER / "nothing.safetensors")


if __name__ == "__main__":
    main()
