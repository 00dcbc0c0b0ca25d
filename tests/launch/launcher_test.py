#!/usr/bin/env python3
"""`ranktune launch` itself, with small programs as ranks.

    tests/launch/launcher_test.py    (RANKTUNE_BIN_DIR names the folder of built programs)

Nothing here sleeps to wait: the test reads what the launcher writes, and polls process descriptors.
"""
import json
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKTUNE = pathlib.Path(os.environ.get("RANKTUNE_BIN_DIR", ROOT / "build" / "bin")) / "ranktune"
LIMIT = 30  # seconds for anything at all; what is expected to be quick takes milliseconds

# A rank that nothing but SIGKILL ends, and that says when it is ready.
STUBBORN = "trap '' TERM INT HUP; echo ready $$; while :; do sleep 60; done"
HANG = "echo ready $$; exec sleep 60"


def clean_environment(**more):
    """This process's variables without those that a launcher would read or set."""
    drop = re.compile(r"PET_|TORCHELASTIC_|MASTER_|(LOCAL_|GROUP_|ROLE_)?(RANK|WORLD_SIZE)$|OMP_NUM_THREADS|RANKTUNE_|"
                      r"TORCH_|PYTHON_EXEC|CUDA_")
    return {**{name: value for name, value in os.environ.items() if not drop.match(name)}, **more}


class Launch:
    """A running launcher; its lines come in the order in which it wrote them to each stream."""

    def __init__(self, *words, environment=None, **options):
        self.process = subprocess.Popen(
            [RANKTUNE, "launch", *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=clean_environment(**(environment or {})), start_new_session=True, **options)
        self.out_end, self.err_end = self.process.stdout.fileno(), self.process.stderr.fileno()
        self.ends = {self.out_end: bytearray(), self.err_end: bytearray()}
        self.open = set(self.ends)
        self.deadline = time.monotonic() + LIMIT

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()  # its watchdog ends what it started
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    @property
    def out(self):
        return self.ends[self.out_end].decode()

    @property
    def err(self):
        return self.ends[self.err_end].decode()

    def read_some(self):
        left = self.deadline - time.monotonic()
        ready, _, _ = select.select(sorted(self.open), [], [], max(0, left))
        if not ready:
            raise TimeoutError(f"nothing came; so far:\n{self.out}\n{self.err}")
        for end in ready:
            data = os.read(end, 1 << 16)
            self.ends[end] += data
            if not data:
                self.open.discard(end)

    def wait_for(self, pattern, count=1):
        """Reads until the pattern has been written so many times; returns what it found."""
        while True:
            found = re.findall(pattern, self.out + self.err, re.MULTILINE)
            if len(found) >= count:
                return found
            if not self.open:
                raise AssertionError(f"{pattern!r} never came:\n{self.out}\n{self.err}")
            self.read_some()

    def finish(self):
        """Reads to the end. Returns the exit code, or the negative signal."""
        while self.open:
            self.read_some()
        return self.process.wait(max(0.1, self.deadline - time.monotonic()))

    def send(self, number):
        self.process.send_signal(number)


def launch(*words, **options):
    """Runs a launcher to its end."""
    with Launch(*words, **options) as run:
        run.code = run.finish()
    return run


def sh(script):
    return ["sh", "-c", script]


def wait_until_gone(descriptors, seconds=10):
    """Waits for processes, given by pidfds, to end."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    deadline, left = time.monotonic() + seconds, set(descriptors)
    while left:
        for descriptor, _ in poll.poll(max(0, 1000 * (deadline - time.monotonic()))) or [(None, None)]:
            if descriptor is None:
                return False
            poll.unregister(descriptor)
            left.discard(descriptor)
    return True


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def watch(self, pids):
        """pidfds of processes that run now; closed at the end of the test."""
        descriptors = [os.pidfd_open(int(pid)) for pid in pids]
        for descriptor in descriptors:
            self.addCleanup(os.close, descriptor)
        return descriptors

    def assert_no_group(self, pids):
        for pid in pids:
            with self.assertRaises(ProcessLookupError, msg=f"process group {pid} is left"):
                os.killpg(int(pid), 0)


class Lines(Case):
    def test_come_whole_and_with_their_rank(self):
        writer = self.script("writer.py", """
import os
rank = os.environ["RANK"]
for i in range(400):
    line = f"{rank} {i} ".encode() + rank.encode() * (i * 37 % 6000) + b" end\\n"
    for start in range(0, len(line), 997):
        os.write(1 + i % 2, line[start:start + 997])
""")
        run = launch("--nproc_per_node", 3, writer)
        self.assertEqual(run.code, 0)
        lines = run.out.splitlines() + [line for line in run.err.splitlines() if not line.startswith("ranktune")]
        seen = {(rank, i): rest for rank, i, rest in
                (re.fullmatch(r"\[(\d)\]: \1 (\d+) (.*) end", line).groups() for line in lines)}
        self.assertEqual(len(lines), 1200)
        for (rank, i), rest in seen.items():
            self.assertEqual(rest, rank * (int(i) * 37 % 6000))
        self.assertEqual(len(seen), 1200)
        for stream in (run.out, run.err):
            for rank in "012":
                order = [int(i) for i in re.findall(rf"^\[{rank}\]: {rank} (\d+) ", stream, re.MULTILINE)]
                self.assertEqual(order, sorted(order))

    def test_end_with_the_rank_even_without_a_line_break(self):
        run = launch(*sh("printf out; printf err >&2"))
        self.assertEqual(run.out, "[0]: out\n")
        self.assertIn("[0]: err\n", run.err)

    def test_that_are_too_long_are_cut_with_the_rank_repeated(self):
        run = launch("python3", "-c", "print('x' * 200000)")
        lines = run.out.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual("".join(line.removeprefix("[0]: ") for line in lines), "x" * 200000)

    def test_of_a_progress_bar_show_its_last_state(self):
        run = launch(*sh(r"printf '\r 10%%'; printf '\r 50%%'; printf '\r100%%\n'"))
        self.assertEqual(run.out, "[0]: 100%\n")

    def test_of_a_progress_bar_show_that_it_lives(self):
        with Launch(*sh(r"printf '\r 10%%'; printf '\r 50%%'; exec sleep 60")) as run:
            run.wait_for(r"^\[0\]:  50%$")

    def test_only_of_the_ranks_that_are_asked_for(self):
        run = launch("--nproc-per-node", 3, "--local-ranks-filter", "0,2", *sh("echo $RANK"))
        self.assertEqual(sorted(run.out.splitlines()), ["[0]: 0", "[2]: 2"])

    def test_in_a_flood_do_not_stop_the_ranks(self):
        flood = self.script("flood.py", """
import os
line = (os.environ["RANK"] * 99 + "\\n").encode()
for _ in range(200):
    os.write(2, line * 500)
""")
        run = launch("--nproc_per_node", 2, flood)
        self.assertEqual(run.code, 0)
        for rank in "01":
            self.assertEqual(run.err.count(f"[{rank}]: {rank * 99}\n"), 100000)

    def test_that_nobody_reads_do_not_keep_the_launcher_from_a_signal(self):
        with Launch("--nproc_per_node", 2, "--shutdown-timeout", 0.2, *sh("echo ready $$; exec yes")) as run:
            pids = [pid for pid in run.wait_for(r"^\[\d\]: ready (\d+)$", 2)]
            # From here on the test reads nothing: the pipe is full in no time.
            run.send(signal.SIGTERM)
            self.assertEqual(run.process.wait(LIMIT), 128 + signal.SIGTERM)
            self.assert_no_group(pids)

    def test_without_a_reader_do_not_end_the_ranks(self):
        os.mkfifo(self.folder / "go")
        with Launch("sh", "-c", 'echo one; read word < "$0/go"; echo two && echo two > "$0/done"', self.folder) as run:
            run.wait_for("one")
            run.process.stdout.close()
            run.process.stderr.close()
            (self.folder / "go").write_text("go\n")
            self.assertEqual(run.process.wait(LIMIT), 0)
        self.assertEqual((self.folder / "done").read_text(), "two\n")


class Environment(Case):
    def test_is_that_of_torchrun(self):
        show = self.script("show.py", "import json, os; print(json.dumps(dict(os.environ)))")
        run = launch("--nproc_per_node", 2, "--rdzv-id", "job7", "--max_restarts", 3, "--role", "trainer", show)
        self.assertEqual(run.code, 0)
        ranks = sorted((json.loads(line.split(": ", 1)[1]) for line in run.out.splitlines()), key=lambda e: e["RANK"])
        for rank, variables in enumerate(ranks):
            expected = {
                "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
                "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1", "ROLE_RANK": str(rank), "ROLE_WORLD_SIZE": "2",
                "ROLE_NAME": "trainer", "MASTER_ADDR": "127.0.0.1", "TORCHELASTIC_RESTART_COUNT": "0",
                "TORCHELASTIC_MAX_RESTARTS": "3", "TORCHELASTIC_RUN_ID": "job7",
                "TORCHELASTIC_USE_AGENT_STORE": "False", "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
                "OMP_NUM_THREADS": str(max(1, len(os.sched_getaffinity(0)) // 2)), "RANKTUNE_PORT_HELD": "1"}
            self.assertEqual({name: variables[name] for name in expected}, expected)
            self.assertEqual(variables["MASTER_PORT"], ranks[0]["MASTER_PORT"])
            self.assertTrue(variables["TORCHELASTIC_ERROR_FILE"].endswith(f"/attempt_0/{rank}/error.json"))
            self.assertEqual(variables["RANKTUNE_ERROR_FILE"], variables["TORCHELASTIC_ERROR_FILE"])

    def test_keeps_a_chosen_number_of_threads(self):
        run = launch(*sh("echo $OMP_NUM_THREADS"), environment={"OMP_NUM_THREADS": "3"})
        self.assertEqual(run.out, "[0]: 3\n")

    def test_gives_flags_their_defaults(self):
        show = sh("echo $WORLD_SIZE $ROLE_NAME")
        pet = {"PET_NPROC_PER_NODE": "2", "PET_ROLE": "r", "PET_STANDALONE": "", "PET_NNODES": "1"}
        self.assertEqual(launch(*show, environment=pet).out.count(" 2 r\n"), 2)
        self.assertEqual(launch("--nproc-per-node=1", *show, environment=pet).out, "[0]: 1 r\n")
        run = launch(*show, environment={"PET_MAX_RESTARTS": "x"})
        self.assertEqual((run.code, run.err),
                         (2, 'ranktune launch: error: PET_MAX_RESTARTS "x" is not a whole number\n'))

    def test_leaves_the_programs_words_alone(self):
        words = ["--nproc_per_node", "5", "-r", "--", "${local_rank}", "x=${local_rank}", ""]
        run = launch("--standalone", "sh", "-c", 'for word; do echo "<$word>"; done', "name", *words)
        self.assertEqual(run.out.replace("[0]: ", ""), "<--nproc_per_node>\n<5>\n<-r>\n<-->\n<0>\n<x=0>\n<>\n")
        self.assertEqual(launch("--no_python", "--", "true").code, 0)

    def test_starts_python_programs_with_the_interpreter(self):
        script = self.script("flags.py", "import sys; print(sys.argv[1:], sys.orig_argv[1], __name__)")
        self.assertEqual(launch(script, "-x").out, "[0]: ['-x'] -u __main__\n")
        environment = {"PYTHON_EXEC": sys.executable, "PYTHONPATH": str(self.folder)}
        self.assertEqual(launch("-m", "flags", "-x", environment=environment).out, "[0]: ['-x'] -u __main__\n")

    def test_gives_standard_input_to_the_first_rank_alone(self):
        with subprocess.Popen([RANKTUNE, "launch", "--nproc_per_node", "2", *sh("wc -c")], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean_environment()) as process:
            out, _ = process.communicate(b"12345", LIMIT)
        self.assertEqual(sorted(out.decode().split("\n")), ["", "[0]: 5", "[1]: 0"])


class Ends(Case):
    def test_with_the_code_of_the_rank_that_failed_first(self):
        script = f'[ $RANK = 1 ] || {{ {HANG}; }}; echo one >&2; echo two >&2; exit 7'
        with Launch("--nproc_per_node", 3, *sh(script)) as run:
            self.assertEqual(run.finish(), 7)
            self.assertRegex(run.err, r"ranktune launch: rank 1 failed first: exit code 7, \d+\.\d s after its start "
                                      r"\(host \S+, local rank 1, pid \d+\)\n"
                                      r"ranktune launch: the last lines of rank 1's standard error:\n"
                                      r"ranktune launch:   one\nranktune launch:   two\n"
                                      r"ranktune launch: the others ended: rank 0 by SIGTERM, rank 2 by SIGTERM\n$")
            self.assert_no_group(re.findall(r"ready (\d+)", run.out))

    def test_with_128_and_the_signal_that_killed_the_rank(self):
        run = launch("--nproc_per_node", 2, *sh(f"[ $RANK = 1 ] || {{ {HANG}; }}; kill -SEGV $$"))
        self.assertEqual(run.code, 128 + signal.SIGSEGV)
        self.assertIn("rank 1 failed first: killed by SIGSEGV, ", run.err)

    def test_with_the_last_twenty_lines_of_a_long_complaint(self):
        run = launch(*sh("seq 100 >&2; exit 1"))
        self.assertEqual(re.findall(r"^ranktune launch:   (\d+)$", run.err, re.MULTILINE),
                         [str(i) for i in range(81, 101)])

    def test_with_the_message_of_the_error_file(self):
        message = {"message": {"message": "ValueError: row 3", "extraInfo": {"timestamp": "1700000000"}}}
        fail = self.script("fail.py", f"import os; open(os.environ['TORCHELASTIC_ERROR_FILE'], 'w').write("
                                      f"{json.dumps(message)!r}); raise SystemExit(3)")
        outer = self.folder / "outer.json"
        run = launch(fail, environment={"TORCHELASTIC_ERROR_FILE": str(outer)})
        self.assertEqual(run.code, 3)
        self.assertIn("ranktune launch: rank 0 says: ValueError: row 3\n", run.err)
        self.assertEqual(json.loads(outer.read_text()), message)

    def test_although_a_rank_ignores_the_request(self):
        script = f"[ $RANK = 0 ] && {{ {STUBBORN}; }}; read word < $0/go; exit 7"
        os.mkfifo(self.folder / "go")
        with Launch("--nproc_per_node", 2, "--shutdown-timeout", 0.3, *sh(script), self.folder) as run:
            pids = run.wait_for(r"ready (\d+)")
            (self.folder / "go").write_text("go\n")
            self.assertEqual(run.finish(), 7)
            self.assertIn("the others ended: rank 0 by SIGKILL\n", run.err)
            self.assert_no_group(pids)

    def test_with_what_a_rank_left_behind(self):
        os.mkfifo(self.folder / "go")
        script = "sh -c \"trap '' TERM; echo ready $$; echo go > $0/go; sleep 60\" & read word < $0/go; exit 0"
        with Launch("--shutdown-timeout", 0.3, *sh(script), self.folder) as run:
            pids = run.wait_for(r"ready (\d+)")
            self.assertEqual(run.finish(), 0)
            self.assert_no_group(pids)

    def test_for_a_program_that_is_none(self):
        run = launch("--nproc_per_node", 2, self.folder / "nothing")
        self.assertEqual((run.code, run.err), (2, f"ranktune launch: error: {self.folder}/nothing cannot be started: "
                                                  "No such file or directory\n"))
        self.assertEqual(launch().code, 2)

    def test_after_as_many_restarts_as_allowed(self):
        script = sh("echo try $TORCHELASTIC_RESTART_COUNT $MASTER_PORT; [ $TORCHELASTIC_RESTART_COUNT = 2 ]")
        run = launch("--nproc_per_node", 2, "--max_restarts", 2, *script)
        self.assertEqual(run.code, 0)
        self.assertEqual(re.findall(r"restarting all ranks \((.*)\)", run.err),
                         ["1 of 2 restarts", "2 of 2 restarts"])
        self.assertIn("try 2 ", run.out)
        self.assertEqual(len(set(re.findall(r"try \d (\d+)", run.out))), 1)
        self.assertEqual(launch("--max_restarts", 1, *script).code, 1)


class Signals(Case):
    def test_to_end_reach_the_ranks(self):
        script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do read word < $0/never; done"
        os.mkfifo(self.folder / "never")
        with Launch("--nproc_per_node", 2, *sh(script), self.folder) as run:
            run.wait_for("ready", 2)
            run.send(signal.SIGTERM)
            self.assertEqual(run.finish(), 128 + signal.SIGTERM)
            self.assertEqual(run.out.count("bye"), 2)
            self.assertIn("ranktune launch: SIGTERM passed on; 2 ranks have 30 s to end\n", run.err)

    def test_of_the_user_reach_the_ranks_and_end_nothing(self):
        script = ("import signal\nfor s in (signal.SIGUSR1, signal.SIGUSR2):\n  signal.signal(s, lambda *_: None)\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGUSR2})\nprint('ready')\n"
                  "for _ in range(2):\n  print(signal.sigwait({signal.SIGUSR1, signal.SIGUSR2}).name)")
        with Launch("--nproc_per_node", 2, self.script("wait.py", script)) as run:
            run.wait_for("ready", 2)
            run.send(signal.SIGUSR1)
            run.wait_for(r"^\[\d\]: SIGUSR1", 2)
            run.send(signal.SIGUSR2)
            run.wait_for(r"^\[\d\]: SIGUSR2", 2)
            self.assertEqual(run.finish(), 0)

    def test_of_control_c_end_the_launcher_by_the_signal(self):
        with Launch("--nproc_per_node", 2, *sh(HANG)) as run:
            pids = run.wait_for(r"ready (\d+)", 2)
            run.send(signal.SIGINT)
            self.assertEqual(run.finish(), -signal.SIGINT)
            self.assert_no_group(pids)

    def test_of_a_second_control_c_kill_at_once(self):
        with Launch("--nproc_per_node", 2, *sh(STUBBORN)) as run:
            pids = run.wait_for(r"ready (\d+)", 2)
            run.send(signal.SIGINT)
            run.wait_for("SIGINT passed on")
            run.send(signal.SIGINT)
            self.assertEqual(run.finish(), -signal.SIGINT)
            self.assert_no_group(pids)

    def test_that_stop_a_rank_are_seen(self):
        with Launch("--nproc_per_node", 2, "--stopped-timeout", 20, *sh(HANG)) as run:
            pids = run.wait_for(r"^\[1\]: ready (\d+)")
            os.kill(int(pids[0]), signal.SIGSTOP)
            run.wait_for(r"rank 1 \(pid \d+\) was stopped by SIGSTOP; it counts as failed unless it goes on within 20 s")
            os.kill(int(pids[0]), signal.SIGCONT)
            run.wait_for("rank 1 goes on")

    def test_that_stop_a_rank_for_too_long_fail_it(self):
        with Launch("--nproc_per_node", 2, "--stopped-timeout", 0.2, *sh(HANG)) as run:
            pids = run.wait_for(r"^\[\d\]: ready (\d+)", 2)
            first = run.wait_for(r"^\[1\]: ready (\d+)")[0]
            os.kill(int(first), signal.SIGSTOP)
            self.assertEqual(run.finish(), 128 + signal.SIGSTOP)
            self.assertIn("rank 1 failed first: stopped by SIGSTOP", run.err)
            self.assert_no_group(pids)


class Killed(Case):
    def test_launcher_leaves_nothing_behind(self):
        # Each rank has a child that ignores all that can be ignored, and a grandchild.
        script = "sh -c \"trap '' TERM HUP INT; sh -c 'echo ready \\$\\$; sleep 60' & echo ready \\$\\$; wait\" & " \
                 "echo ready $$; wait"
        with Launch("--nproc_per_node", 2, *sh(script)) as run:
            pids = run.wait_for(r"ready (\d+)", 6)
            descriptors = self.watch(pids)
            run.send(signal.SIGKILL)
            self.assertTrue(wait_until_gone(descriptors), "something outlived the launcher")
            run.finish()  # the streams are closed: nobody holds them any more

    def test_process_group_of_the_launcher_leaves_nothing_behind(self):
        with Launch("--nproc_per_node", 2, *sh(f"(trap '' TERM; {HANG}) & {HANG}")) as run:
            descriptors = self.watch(run.wait_for(r"ready (\d+)", 4))
            os.killpg(run.process.pid, signal.SIGKILL)
            self.assertTrue(wait_until_gone(descriptors), "something outlived the launcher")


class Logs(Case):
    def files(self):
        return {str(path.relative_to(self.folder).as_posix()).split("/", 1)[1]: path.read_text()
                for path in self.folder.rglob("*.log")}

    def launch(self, *words):
        return launch("--nproc_per_node", 2, "--rdzv-id", "job/7", "--log-dir", self.folder, *words,
                      *sh("echo out $RANK; echo err $RANK >&2"))

    def test_have_both_streams_by_attempt_and_local_rank(self):
        run = self.launch()
        self.assertEqual(self.files(), {
            "attempt_0/0/stdout.log": "out 0\n", "attempt_0/0/stderr.log": "err 0\n",
            "attempt_0/1/stdout.log": "out 1\n", "attempt_0/1/stderr.log": "err 1\n"})
        self.assertEqual(sorted(run.out.splitlines()), ["[0]: out 0", "[1]: out 1"])
        self.assertRegex(run.err, rf"logs in {self.folder}/job_7_\w{{6}}\n")

    def test_take_redirected_streams_away_from_the_console(self):
        run = self.launch("--redirects", "0:1,1:3")
        self.assertEqual(self.files(), {"attempt_0/0/stdout.log": "out 0\n", "attempt_0/1/stdout.log": "out 1\n",
                                        "attempt_0/1/stderr.log": "err 1\n"})
        self.assertEqual(run.out, "")
        self.assertIn("[0]: err 0", run.err)
        self.assertNotIn("[1]: err 1", run.err)

    def test_double_teed_streams(self):
        run = self.launch("-t", "2", "-r", "1")
        self.assertEqual(len(self.files()), 4)
        self.assertEqual(run.out, "")
        self.assertIn("[1]: err 1", run.err)

    def test_leave_no_temporary_folder_behind(self):
        launch(*sh("exit 1"), environment={"TMPDIR": str(self.folder)})
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_need_a_folder_that_can_be_made(self):
        file = self.script("file", "")
        run = launch("--log-dir", file / "logs", "true")
        self.assertEqual(run.code, 2)
        self.assertIn(f"--log_dir {file}/logs: cannot be made", run.err)


class Ports(Case):
    LISTEN = """
import os, socket
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("", int(os.environ["MASTER_PORT"])))
server.listen()
client = socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])))
print("connected")
raise SystemExit(int(os.environ["TORCHELASTIC_RESTART_COUNT"]) < 2)
"""

    def test_are_rank_zeros_to_listen_on_in_every_attempt(self):
        run = launch("--max_restarts", 2, self.script("store.py", self.LISTEN))
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.out, "[0]: connected\n" * 3)

    def test_of_another_launcher_are_refused(self):
        with Launch(*sh("echo ready $MASTER_PORT; exec sleep 60")) as first:
            port = first.wait_for(r"ready (\d+)")[0]
            run = launch("--master-port", port, "true")
            self.assertEqual(run.code, 2)
            self.assertIn(f"--master_port {port}: held by another ranktune launch on this machine", run.err)

    def test_that_are_taken_are_refused_with_their_owner(self):
        with socket.socket() as server:
            server.bind(("", 0))
            server.listen()
            run = launch("--master-port", server.getsockname()[1], "true")
        self.assertEqual(run.code, 2)
        self.assertIn(f"taken by pid {os.getpid()} (", run.err)


class Machines(Case):
    def test_number_their_ranks_in_turn(self):
        with socket.socket() as free:
            free.bind(("", 0))
            port = free.getsockname()[1]
        common = ["--nnodes", 2, "--nproc_per_node", 2, "--master-addr", "127.0.0.1", "--master-port", port]
        show = sh("echo $RANK/$WORLD_SIZE $LOCAL_RANK $GROUP_RANK $MASTER_PORT ${RANKTUNE_PORT_HELD:-free}")
        with Launch(*common, "--node-rank", 0, *show) as first, Launch(*common, "--node-rank", 1, *show) as second:
            self.assertEqual((first.finish(), second.finish()), (0, 0))
        self.assertEqual(sorted(first.out.splitlines()), [f"[0]: 0/4 0 0 {port} 1", f"[1]: 1/4 1 0 {port} 1"])
        self.assertEqual(sorted(second.out.splitlines()), [f"[2]: 2/4 0 1 {port} free", f"[3]: 3/4 1 1 {port} free"])

    def test_need_their_number(self):
        run = launch("--nnodes", 2, "--master-addr", "head", "true")
        self.assertEqual((run.code, run.err), (2, "ranktune launch: error: --nnodes 2 needs --node_rank: 0 on the "
                                                  "machine of --master_addr, 1 on the next\n"))


class Speed(Case):
    def test_launcher_adds_little(self):
        def seconds():
            start = time.perf_counter()
            self.assertEqual(subprocess.run([RANKTUNE, "launch", "true"], stderr=subprocess.DEVNULL).returncode, 0)
            return time.perf_counter() - start
        best = min(seconds() for _ in range(20))
        print(f"ranktune launch true: {1e3 * best:.1f} ms")
        self.assertLess(best, 0.1)  # it takes 5 ms; sanitizers and a busy machine have their share


if __name__ == "__main__":
    unittest.main()
