#!/usr/bin/env python3
"""The house rules that a machine can check: who includes what, file sizes, names in the documentation, LibTorch.

    tests/architecture/architecture_test.py    (RANKTUNE_BIN_DIR names the folder of built programs)
"""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("RANKTUNE_BIN_DIR", ROOT / "build" / "bin"))

# Which folders a folder's files may include. Data flows downward; see docs/architecture.md.
ARROWS = {
    "core": set(),
    "launch": {"core"},
    "sampling": {"core"},
    "text": {"core"},
    "data": {"text", "core"},
    "compat": set(),
    "ops": {"compat", "core"},
    "models": {"ops", "compat", "core"},
    "dist": {"launch", "compat", "core"},
    "train": {"dist", "models", "ops", "compat", "data", "text", "sampling", "launch", "core"},
}
WITH_LIBTORCH = {"compat", "ops", "models", "dist", "train"}
KERNELS = pathlib.PurePath("src/ranktune/ops/cpu")  # raw pointers only
LIBTORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
PUBLIC_LIBTORCH = "ATen/core/Tensor.h"  # 3 s to compile, where torch/torch.h takes 39 s
MOST_LINES = 500

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
OWN = re.compile(r"^ranktune/(\w+)/")
CODE = {".h", ".cpp", ".cu", ".cuh", ".inc"}


def code_files(*folders):
    return [p for folder in folders for p in sorted((ROOT / folder).rglob("*")) if p.suffix in CODE]


def includes_of(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def forbidden_includes(place, header):
    """Why a file at `place` (a path from the root) may not include `header`; None when it may."""
    place = pathlib.PurePath(place)
    folder = place.parts[2] if len(place.parts) > 3 and place.parts[1] == "ranktune" else None
    public = place.parts[0] == "include"
    if LIBTORCH.match(header):
        if public and header != PUBLIC_LIBTORCH:
            return f"a public header includes of LibTorch {PUBLIC_LIBTORCH} at most"
        if folder and folder not in WITH_LIBTORCH:
            return f"the folder {folder} knows no LibTorch"
        if KERNELS in place.parents:
            return "a kernel knows no LibTorch"
    own = OWN.match(header)
    if own and folder and own[1] != folder and own[1] not in ARROWS[folder]:
        return f"there is no arrow from {folder} to {own[1]}"
    if header.startswith("../") or "/../" in header:
        return "a path upward hides where a header belongs"
    if header.startswith("fmt/") and (place.suffix == ".h" or folder in WITH_LIBTORCH):
        return "fmt stays in .cpp files of folders without LibTorch, which brings an fmt of its own"
    if public and own and not (ROOT / "include" / header).exists():
        return "a public header includes a private one"
    return None


class IncludeRules(unittest.TestCase):
    """The checker itself: what it must refuse, and what it must let pass."""

    def test_refuses(self):
        for place, header in [
            ("src/ranktune/text/a.cpp", "ranktune/data/table.h"),
            ("src/ranktune/core/a.cpp", "ranktune/text/tokenizer.h"),
            ("src/ranktune/ops/a.cpp", "ranktune/models/token_batch.h"),
            ("src/ranktune/models/a.cpp", "ranktune/train/trainer.h"),
            ("src/ranktune/sampling/a.cpp", "ranktune/data/table.h"),
            ("src/ranktune/data/a.cpp", "ATen/core/Tensor.h"),
            ("include/ranktune/models/a.h", "torch/torch.h"),
            ("include/ranktune/text/a.h", "ATen/core/Tensor.h"),
            ("src/ranktune/ops/cpu/kernels.cpp", "ATen/core/Tensor.h"),
            ("src/ranktune/text/a.cpp", "../data/table.h"),
            ("src/ranktune/train/a.cpp", "fmt/format.h"),
            ("include/ranktune/core/error.h", "ranktune/core/hidden_thing.h"),
        ]:
            with self.subTest(place=place, header=header):
                self.assertIsNotNone(forbidden_includes(place, header))

    def test_allows(self):
        for place, header in [
            ("src/ranktune/data/a.cpp", "ranktune/text/tokenizer.h"),
            ("src/ranktune/train/a.cpp", "ranktune/models/token_batch.h"),
            ("src/ranktune/ops/attention.cpp", "ATen/ops/softmax.h"),
            ("include/ranktune/models/a.h", "ATen/core/Tensor.h"),
            ("src/ranktune/core/a.cpp", "fmt/format.h"),
            ("tools/main.cpp", "ranktune/train/text_classification.h"),
        ]:
            with self.subTest(place=place, header=header):
                self.assertIsNone(forbidden_includes(place, header))


class House(unittest.TestCase):
    def test_every_folder_is_known(self):
        for top in ("src/ranktune", "include/ranktune"):
            for path in (ROOT / top).iterdir():
                if path.is_dir():
                    self.assertIn(path.name, ARROWS, f"{top}/{path.name} has no place in the ladder of folders")

    def test_includes_follow_the_arrows(self):
        wrong = []
        for path in code_files("include", "src", "tools"):
            place = path.relative_to(ROOT)
            for header in includes_of(path):
                reason = forbidden_includes(place, header)
                if reason:
                    wrong.append(f"{place} includes {header}: {reason}")
        self.assertEqual(wrong, [])

    def test_no_file_is_too_long(self):
        long_files = {}
        for path in code_files("include", "src", "tools"):
            text = path.read_text(encoding="utf-8")
            if "Generated by scripts/" in text[:400]:  # tables, written by a script
                continue
            if text.count("\n") > MOST_LINES:
                long_files[str(path.relative_to(ROOT))] = text.count("\n")
        self.assertEqual(long_files, {})

    def test_front_program_links_no_libtorch(self):
        program = BIN / "ranktune"
        if not program.exists():
            self.skipTest(f"{program} has not been built")
        if not shutil.which("ldd"):
            self.skipTest("there is no ldd here")
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(libraries, r"libtorch|libc10")


class Documentation(unittest.TestCase):
    PLACES = r"(?:docs|examples|scripts|src|include|tests|benchmarks|cmake|tools|\.ci)"
    NAMED = re.compile(r"`(" + PLACES + r"/[\w./-]*)`")
    LINKED = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")

    def test_named_paths_exist(self):
        missing = []
        for document in sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")):
            text = document.read_text(encoding="utf-8")
            places = [(name, ROOT / name) for name in self.NAMED.findall(text)]
            places += [(name, document.parent / name) for name in self.LINKED.findall(text)]
            missing += [f"{document.relative_to(ROOT)}: {name}" for name, path in places if not path.exists()]
        self.assertEqual(missing, [])


if __name__ == "__main__":
    unittest.main()
