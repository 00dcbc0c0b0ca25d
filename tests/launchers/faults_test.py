#!/usr/bin/env python3
"""What goes wrong with one rank of a training job: the job ends soon, says which rank and why, and leaves nothing behind.

    tests/launchers/faults_test.py    (RANKTUNE_BIN_DIR names the folder of built programs)
"""
import os
import re
import shutil
import signal
import socket
import threading
import time
import unittest

from support import FIXTURES, RANKTUNE, Case, adopt_orphans, free_port, state_of, train_words, wait_until_gone

SOON = 5  # seconds from a fault to the end of the job
ENDLESS = 1_000_000  # updates


class Faults(Case):
    """Two or three ranks under `ranktune launch`, one of which the test does something to."""

    def launch(self, *words, ranks=2, before="", flags=()):
        """Each rank tells its pid; rank-dependent shell commands may come before the program takes its place."""
        script = f'echo "rank $RANK is $$"; {before} exec "$@"'
        return self.start(RANKTUNE, "launch", "--nproc-per-node", ranks, *flags, "sh", "-c", script, "sh", *words)

    def train(self, ranks=2, before="", flags=(), **options):
        return self.launch(*train_words(self.folder / "out", ranks, **options), ranks=ranks, before=before, flags=flags)

    def start_rank(self, rank, world, port, *words, master="127.0.0.1"):
        """A rank by itself, with what a launcher would have told it."""
        return self.start(*words, environment={"RANK": str(rank), "WORLD_SIZE": str(world), "LOCAL_RANK": str(rank),
                                               "MASTER_ADDR": master, "MASTER_PORT": str(port)})

    def pid_of(self, job, rank):
        return int(job.wait_for(rf"rank {rank} is (\d+)")[1])

    def wait_until_in_the_middle(self, job):
        job.wait_for("first update")

    def assert_ends(self, job, code, *texts, seconds=SOON):
        begin = time.monotonic()
        job.finish(60)
        self.assertLess(time.monotonic() - begin, seconds, job.text)
        self.assertEqual(job.code, code, job.text)
        for text in texts:
            self.assertRegex(job.text, text)


class Killed(Faults):
    def test_before_the_ranks_have_met(self):
        job = self.train(before='[ "$RANK" = 1 ] && kill -9 $$;')
        self.assert_ends(job, 128 + 9, "rank 1 failed first: killed by SIGKILL")

    def test_in_the_middle_of_training(self):
        job = self.train(ranks=3, max_steps=ENDLESS)
        self.wait_until_in_the_middle(job)
        os.kill(self.pid_of(job, 1), signal.SIGKILL)
        self.assert_ends(job, 128 + 9, "rank 1 failed first: killed by SIGKILL")

    def test_while_it_saves_leaves_no_half_of_a_checkpoint(self):
        # The system kills a process that writes more to a file than it may: here, in the middle of the weights.
        weights = (FIXTURES / "tiny_bert" / "model.safetensors").stat().st_size
        job = self.train(before=f'[ "$RANK" = 0 ] && ulimit -f {weights // 2 // 512};', save_strategy="steps",
                         save_steps=2)
        self.assert_ends(job, 128 + signal.SIGXFSZ, "rank 0 failed first: killed by SIGXFSZ", seconds=30)
        self.assertEqual([path.name for path in (self.folder / "out").glob("checkpoint-*")], [])
        self.assertFalse((self.folder / "out" / "model.safetensors").exists())

    def test_without_a_launcher_ends_the_others_by_themselves(self):
        port = free_port()
        words = train_words(self.folder / "out", 3, max_steps=ENDLESS)
        ranks = [self.start_rank(rank, 3, port, *words) for rank in range(3)]
        self.wait_until_in_the_middle(ranks[0])
        ranks[2].process.kill()
        for rank in (0, 1):
            self.assert_ends(ranks[rank], 1, rf"rank {rank}: [\w -]+ failed after \d+ s")


class Stopped(Faults):
    def test_is_told_apart_from_slow_and_ends_the_job(self):
        job = self.train(max_steps=ENDLESS, flags=["--stopped-timeout", "0.5"])
        self.wait_until_in_the_middle(job)
        os.kill(self.pid_of(job, 1), signal.SIGSTOP)
        self.assert_ends(job, 128 + signal.SIGSTOP, r"rank 1 \(pid \d+\) was stopped by SIGSTOP",
                         "rank 1 failed first: stopped by SIGSTOP")

    def test_without_a_launcher_is_named_after_the_timeout(self):
        port = free_port()
        words = train_words(self.folder / "out", 2, max_steps=ENDLESS, ddp_timeout=2)
        first, second = (self.start_rank(rank, 2, port, *words) for rank in range(2))
        self.wait_until_in_the_middle(first)
        os.kill(second.process.pid, signal.SIGSTOP)
        self.assert_ends(first, 1, r"rank 0: [\w -]+ failed after [23] s", seconds=10)
        self.assertEqual(state_of(second.process.pid), "T")


class Failed(Faults):
    def test_on_one_rank_only_tells_the_others_why(self):
        shutil.copy(FIXTURES / "training" / "train.csv", self.folder / "train.csv")
        job = self.train(before='[ "$RANK" = 1 ] && cd /;', train_file="train.csv")
        self.assert_ends(job, 2, "rank 1 failed first: exit code 2", "train.csv", "rank 1 says: ")

    def test_because_its_model_differs_is_named(self):
        model = self.folder / "model"
        shutil.copytree(FIXTURES / "tiny_bert", model)
        other = self.folder / "other" / "model"
        shutil.copytree(FIXTURES / "tiny_bert", other)
        config = (other / "config.json").read_text(encoding="utf-8")
        shorter = re.sub(r'"num_hidden_layers": \d+', '"num_hidden_layers": 1', config)
        self.assertNotEqual(config, shorter)
        (other / "config.json").write_text(shorter, encoding="utf-8")
        job = self.train(before='[ "$RANK" = 1 ] && cd other;', model_name_or_path="model")
        self.assert_ends(job, 1, r"rank 1 .*model|model.* rank 1", seconds=30)

    def test_to_come_is_named_after_the_timeout(self):
        job = self.train(ranks=3, before='[ "$RANK" = 1 ] && exec sleep 60;', ddp_timeout=1)
        self.assert_ends(job, 1, "rank 1 of 3 did not come to 127.0.0.1:", seconds=10)


class Ports(Faults):
    def rank(self, rank, port, world=2, **options):
        words = train_words(self.folder / f"out-{rank}-{world}", world, ddp_timeout=2, **options)
        return self.start_rank(rank, world, port, *words)

    def test_with_a_foreign_server_behind_are_told_from_a_store(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            talker = threading.Thread(target=self.talk_nonsense, args=(server,), daemon=True)
            talker.start()
            job = self.rank(1, port)
            self.assert_ends(job, 1, rf"no store answers at 127\.0\.0\.1:{port} \(", seconds=20)

    @staticmethod
    def talk_nonsense(server):
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    def test_that_are_taken_name_the_flag_to_change(self):
        with socket.create_server(("", 0)) as server:
            job = self.rank(0, server.getsockname()[1])
            self.assert_ends(job, 1, "the store cannot listen on port", "--master_port", seconds=20)

    def test_of_two_jobs_with_different_numbers_of_ranks_tell_them_apart(self):
        port = free_port()
        ranks = [self.rank(0, port, world=2), self.rank(1, port, world=3)]
        for job in ranks:
            job.finish(60)
        self.assertEqual([job.code for job in ranks], [1, 1], ranks[0].text + ranks[1].text)
        self.assertRegex(ranks[0].text, "rank 1 .*has world_size 3, this rank has 2")


class Master(Faults):
    def test_whose_name_nobody_knows_is_named(self):
        job = self.start_rank(1, 2, 29500, *train_words(self.folder / "out", 2, ddp_timeout=2),
                              master="no-such-host.invalid")
        self.assert_ends(job, 1, r"no store answers at no-such-host\.invalid:29500", seconds=20)


class Interrupted(Faults):
    def test_by_control_c_all_ranks_end_and_nothing_is_half_written(self):
        job = self.train(max_steps=ENDLESS)
        self.wait_until_in_the_middle(job)
        job.process.send_signal(signal.SIGINT)
        self.assert_ends(job, -signal.SIGINT, "SIGINT passed on")
        self.assertFalse((self.folder / "out" / "model.safetensors").exists())

    def test_launcher_killed_takes_its_ranks_along(self):
        job = self.train(max_steps=ENDLESS)
        pids = [self.pid_of(job, rank) for rank in (0, 1)]
        self.wait_until_in_the_middle(job)
        job.process.kill()
        self.assert_ends(job, -signal.SIGKILL)
        self.assertEqual(wait_until_gone(pids, SOON), [])


if __name__ == "__main__":
    adopt_orphans()
    unittest.main()
