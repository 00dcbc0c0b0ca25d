"""What the peer tests share: their arguments, running ranktune, and a list of checks with the figures seen.

Each test is a program: python X_peer_test.py --ranktune build/bin/ranktune --shared ../shared
It prints one line a check and exits 1 when one failed, 77 (ctest: skipped) when data it needs is absent.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


class PeerCase:
    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--ranktune", required=True, help="the program under test")
        parser.add_argument("--shared", required=True, help="folder with data sets")
        arguments = parser.parse_args()
        self.program = Path(arguments.ranktune).resolve()
        self.shared = Path(arguments.shared).resolve()
        self.failures = 0
        self._folder = tempfile.TemporaryDirectory(prefix="ranktune-peer-")
        self.folder = Path(self._folder.name)

    def data(self, name):
        """A file of the shared data; the test is skipped without it."""
        path = self.shared / "data" / name
        if not path.exists():
            print(f"skipped: {path} is absent")
            sys.exit(SKIPPED)
        return path

    def run(self, *arguments, stdin=None):
        """Runs ranktune; a failure ends the test with what the program said. Returns its standard output."""
        command = [str(self.program), *(str(argument) for argument in arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"FAIL: {' '.join(command)}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}")
            sys.exit(1)
        return done.stdout

    def train(self, output, **flags):
        """`ranktune train` on the CPU, training and evaluating, every update logged. Returns standard output."""
        options = {"output_dir": output, "do_train": True, "do_eval": True, "use_cpu": True, "disable_tqdm": True,
                   "logging_steps": 1, "save_strategy": "no", **flags}
        return self.run("train", *(f"--{name}={str(value).lower() if isinstance(value, bool) else value}"
                                   for name, value in options.items()))

    def check(self, passed, what, seen=""):
        self.failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {what}{': ' if seen != '' else ''}{seen}", flush=True)

    def near(self, what, ours, theirs, tolerance):
        """Every number of two lists within `tolerance`, relative to the reference; says the largest difference."""
        worst = max((abs(a - b) / max(abs(b), 1e-12) for a, b in zip(ours, theirs)), default=0.0)
        same_length = len(ours) == len(theirs) and len(theirs) > 0
        self.check(same_length and worst <= tolerance, what,
                   f"{len(ours)} of {len(theirs)} values, largest relative difference {worst:.3g} "
                   f"(allowed {tolerance:g})")

    def equal(self, what, ours, theirs):
        self.check(ours == theirs, what, "" if ours == theirs else f"{ours!r} instead of {theirs!r}")

    def finish(self):
        self._folder.cleanup()
        print("all checks passed" if not self.failures else f"{self.failures} checks failed")
        sys.exit(1 if self.failures else 0)


def read_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def logged_steps(output):
    """The entries of trainer_state.json that belong to updates."""
    return [entry for entry in read_json(Path(output) / "trainer_state.json")["log_history"] if "grad_norm" in entry]


def column(entries, name):
    return [entry[name] for entry in entries]
