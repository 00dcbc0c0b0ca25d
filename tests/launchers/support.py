"""What the tests under real launchers share: running them, ending all that they started, and a small training job.

Each test is a program: tests/launchers/X_test.py (RANKTUNE_BIN_DIR names the folder of built programs). It exits with
77, which ctest counts as skipped, when its launcher is absent.
"""
import ctypes
import functools
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKTUNE = pathlib.Path(os.environ.get("RANKTUNE_BIN_DIR", ROOT / "build" / "bin")).resolve() / "ranktune"
PEER_PYTHON = ROOT / ".deps" / "peer" / "bin" / "python"
SAGEMAKER_PYTHON = ROOT / ".deps" / "sagemaker" / "bin" / "python"
FIXTURES = ROOT / "tests" / "fixtures"
LIMIT = 90  # seconds for any one command; they take a few
STEPS = 6

DOCTOR = [RANKTUNE, "doctor", "--json", "--ddp_timeout", "30"]

# Variables by which a test would find the launcher, or the settings, that it was itself started with.
FOREIGN = re.compile(r"PET_|TORCH|MASTER_|(LOCAL_|GROUP_|ROLE_)?(RANK|WORLD_SIZE)$|OMP_|RANKTUNE_|CUDA_|OMPI_|PMIX?_|"
                     r"MPI_|HYD|SLURM|SLURMD_|SBATCH_|SM_|SAGEMAKER_|GLOO_|NCCL_|PYTHON")


def skip(reason):
    """Ends the test program as skipped."""
    print(f"skipped: {reason}", flush=True)
    sys.exit(77)


def main(*programs):
    """Runs the tests of the program that calls this, or skips where `programs` (names or paths) are absent."""
    # The folder of the daemons is not in everybody's PATH.
    os.environ["PATH"] += os.pathsep + os.pathsep.join(["/usr/sbin", "/sbin"])
    for program in programs:
        if not shutil.which(str(program)):
            skip(f"there is no {program}; './run test launchers' installs the launchers")
    adopt_orphans()
    unittest.main()


def adopt_orphans():
    """From here on a process whose parent is gone becomes a child of this one, so that none can be lost."""
    set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def clean_environment(**more):
    return {**{name: value for name, value in os.environ.items() if not FOREIGN.match(name)}, **more}


def descendants(pid="self"):
    """pids of all that this process has started, directly or not, and that have not ended."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue  # it has ended meanwhile
        for child in children:
            found += [int(child), *descendants(child)]
    return [one for one in found if state_of(one) not in "ZX"]


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return "?"


def wait_until_gone(pids, seconds):
    """The pids that still run after so many seconds; waits no longer than it must."""
    deadline = time.monotonic() + seconds
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
        finally:
            os.close(descriptor)
    return [pid for pid in pids if state_of(pid) not in "ZX"]


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    wait_until_gone(pids, 10)


def free_port():
    """A port that was free a moment ago, on all addresses."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]


class Running:
    """A command that runs; a thread of its own reads what it writes, both streams as one."""

    def __init__(self, words, environment=None, cwd=None):
        self.words = [str(word) for word in words]
        self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=clean_environment(**(environment or {})),
                                        cwd=cwd, start_new_session=True)
        self.changed = threading.Condition()
        self.text, self.at_end = "", False
        self.started = time.monotonic()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.text += line.decode(errors="replace")
                self.changed.notify_all()
        with self.changed:
            self.at_end = True
            self.changed.notify_all()

    def wait_for(self, pattern, seconds=LIMIT):
        """The first match in what the command writes."""
        with self.changed:
            self.changed.wait_for(lambda: self.at_end or re.search(pattern, self.text), seconds)
            match = re.search(pattern, self.text)
        if not match:
            raise AssertionError(f"{pattern!r} never came from {' '.join(self.words)}:\n{self.text}")
        return match

    def finish(self, seconds=LIMIT):
        """Waits for the end. Returns itself, with code, text and seconds."""
        try:
            self.code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end after {seconds} s: {' '.join(self.words)}\n{self.text}") from None
        self.seconds = time.monotonic() - self.started
        self.reader.join(10)
        return self

    def close(self):
        if self.process.poll() is None:
            kill_all([self.process.pid])
            self.process.wait()
        self.reader.join(10)
        self.process.stdout.close()


class Case(unittest.TestCase):
    """A test with a folder, after which nothing that it started is left."""

    maxDiff = None

    def setUp(self):
        self.before = set(descendants())
        folder = tempfile.TemporaryDirectory(prefix="ranktune-launchers-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(self.end_what_is_left)

    def end_what_is_left(self):
        left = wait_until_gone([pid for pid in descendants() if pid not in self.before], 10)
        names = [command_of(pid) for pid in left]
        kill_all(left)
        self.assertEqual(names, [], "processes outlived their launcher")

    def start(self, *words, environment=None):
        running = Running(words, environment, self.folder)
        self.addCleanup(running.close)
        return running

    def run_to_end(self, *words, environment=None, seconds=LIMIT):
        return self.start(*words, environment=environment).finish(seconds)

    def succeed(self, *words, environment=None):
        """Runs a command that is to succeed; returns what it wrote."""
        done = self.run_to_end(*words, environment=environment)
        self.assertEqual(done.code, 0, f"{' '.join(done.words)}\n{done.text}")
        return done.text

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def report_of_doctor(self, text):
        """The doctor's JSON in what a launcher passed on; there is exactly one, from rank 0."""
        text = re.sub(r"^\[?\d+\]?: ", "", text, flags=re.MULTILINE)
        blocks = re.findall(r"^\{\n.*?^\}$", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(blocks), 1, text)
        return json.loads(blocks[0])

    def assert_ranks(self, report, world=2, nodes=1):
        """The ranks met, each is there once, and they are numbered machine by machine."""
        here = world // nodes
        self.assertEqual([(one["rank"], one["local_rank"]) for one in report["ranks"]],
                         [(rank, rank % here) for rank in range(world)])
        self.assertEqual(len({(one["host"], one["pid"]) for one in report["ranks"]}), world)
        self.assertEqual((report["process"]["world_size"], report["process"]["nodes"]), (world, nodes))
        self.assertGreater(report["timings"]["all_reduce"][0]["ms"], 0)

    def assert_losses_of_one_process(self, output):
        """The job in `output` made the updates that one process makes, and saved its model once."""
        ours, alone = losses(output), losses_of_one_process()
        self.assertEqual(len(ours), STEPS)
        for step, (one, other) in enumerate(zip(ours, alone)):
            self.assertAlmostEqual(one, other, delta=1e-5, msg=f"loss of step {step + 1}")
        self.assertTrue((pathlib.Path(output) / "model.safetensors").is_file())


def train_words(output, ranks, **flags):
    """`ranktune train` on the tiny model: 32 rows an update, dealt to so many ranks."""
    options = {"model_name_or_path": FIXTURES / "tiny_bert", "train_file": FIXTURES / "training" / "train.csv",
               "do_train": True, "use_cpu": True, "disable_tqdm": True, "max_steps": STEPS, "logging_steps": 1,
               "per_device_train_batch_size": 32 // ranks, "learning_rate": 1e-3, "save_strategy": "no",
               "ddp_timeout": 30, "output_dir": output, **flags}
    return [RANKTUNE, "train", *(f"--{name}={value}" for name, value in options.items() if value is not None)]


def losses(output):
    state = json.loads((pathlib.Path(output) / "trainer_state.json").read_text(encoding="utf-8"))
    return [entry["loss"] for entry in state["log_history"] if "loss" in entry]


@functools.cache
def losses_of_one_process():
    with tempfile.TemporaryDirectory(prefix="ranktune-launchers-") as folder:
        subprocess.run(train_words(folder, 1), env=clean_environment(), check=True, capture_output=True, timeout=LIMIT)
        found = losses(folder)
    if len(found) != STEPS or len(set(found)) != STEPS:
        raise AssertionError(f"the job of one process is of no use as a reference: {found}")
    return found
