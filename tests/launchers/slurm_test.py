#!/usr/bin/env python3
"""ranktune in a Slurm cluster of this machine alone: munged, slurmctld and slurmd are the test's own."""
import os
import pathlib
import secrets
import signal
import socket
import tempfile
import unittest

from support import (DOCTOR, PEER_PYTHON, RANKTUNE, Case, Running, command_of, descendants, free_port, kill_all, main,
                     train_words, wait_until_gone)

SLURM_CONF = """
ClusterName=ranktune
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MailProg=/bin/true
MpiDefault=none
ReturnToService=2
KillWait=2
InactiveLimit=0
SchedulerParameters=batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=ALL Default=YES State=UP
SlurmdParameters=config_overrides
"""


class Cluster:
    """One node. Its daemons stay in the foreground, as children of the test."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="ranktune-slurm-")
        folder = self.folder = pathlib.Path(self.temporary.name)
        folder.chmod(0o755)  # munged wants its socket where everybody can get to
        for name in ("state", "spool"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        self.conf = folder / "slurm.conf"
        self.conf.write_text(SLURM_CONF.format(
            host=socket.gethostname().split(".")[0], controller_port=free_port(), node_port=free_port(),
            folder=folder, user="root" if os.getuid() == 0 else os.environ["USER"]), encoding="utf-8")
        self.environment = {"SLURM_CONF": str(self.conf)}
        self.daemons = []

    def start(self):
        folder = self.folder
        munged = self.daemon("munged", "--foreground", f"--key-file={folder}/munge.key",
                             f"--socket={folder}/munge.socket", f"--pid-file={folder}/munge.pid",
                             f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed", "--num-threads=2")
        munged.wait_for("Created socket")
        controller = self.daemon("slurmctld", "-D", "-i")
        controller.wait_for("Running as primary controller")
        node = self.daemon("slurmd", "-D")
        node.wait_for("slurmd started")
        # A job is taken before its node has reported; srun waits until it can start.
        self.daemon("srun", "-n1", "true").finish()

    def daemon(self, *words):
        running = Running(words, self.environment)
        self.daemons.append(running)
        return running

    def stop(self):
        for daemon in reversed(self.daemons):
            if daemon.process.poll() is None:
                daemon.process.send_signal(signal.SIGTERM)
                wait_until_gone([daemon.process.pid], 15)
            daemon.close()
        left = wait_until_gone(descendants(), 10)
        names = [command_of(pid) for pid in left]
        kill_all(left)
        self.temporary.cleanup()
        if names:
            raise AssertionError(f"left by the cluster: {names}")


class SlurmCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def slurm(self, *words, **more):
        return self.succeed(*words, environment={**self.cluster.environment, **more})

    def srun(self, *words, **more):
        return self.slurm("srun", "--overcommit", *words, **more)


class Step(SlurmCase):
    def test_is_recognised_with_its_variables(self):
        report = self.report_of_doctor(self.srun("-n2", *DOCTOR))
        self.assert_ranks(report)
        process = report["process"]
        self.assertEqual(process["launcher"], "Slurm")
        sources = {one["what"]: one["source"] for one in process["evidence"]}
        self.assertEqual([sources[what] for what in ("rank", "world size", "local rank")],
                         ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"])
        self.assertEqual(process["master_addr"], "127.0.0.1")

    def test_trains_with_the_losses_of_one_process(self):
        output = self.folder / "out"
        text = self.srun("-n2", *train_words(output, 2))
        self.assertEqual(text.count("***** train metrics *****"), 1, text)
        self.assert_losses_of_one_process(output)

    def test_of_one_task_trains_alone(self):
        output = self.folder / "out"
        self.srun("-n1", *train_words(output, 1, local_rank=-1))
        self.assert_losses_of_one_process(output)

    def test_beside_another_has_a_port_of_its_own(self):
        steps = [self.start("srun", "--overcommit", "--oversubscribe", "-n2", *DOCTOR,
                            environment=self.cluster.environment) for _ in range(2)]
        for step in steps:
            self.assertEqual(step.finish().code, 0, step.text)
        ports = {self.report_of_doctor(step.text)["process"]["master_port"] for step in steps}
        self.assertEqual(len(ports), 2)

    def test_gives_way_to_torchrun_inside(self):
        report = self.report_of_doctor(self.srun(
            "-n1", PEER_PYTHON, "-m", "torch.distributed.run", "--no-python", "--nproc-per-node", "2", *DOCTOR))
        self.assert_ranks(report)
        self.assertEqual(report["process"]["launcher"], "torchrun")

    def test_starts_our_launcher_whose_ranks_train(self):
        output = self.folder / "out"
        self.srun("--ntasks-per-node=1", RANKTUNE, "launch", "--nnodes", "auto", "--nproc-per-node", "2",
                  *train_words(output, 2))
        self.assert_losses_of_one_process(output)

    def test_is_ignored_where_the_user_says_so(self):
        output = self.folder / "out"
        self.srun("-n1", *train_words(output, 1), RANKTUNE_LAUNCH="none")
        self.assert_losses_of_one_process(output)

    def test_ends_when_a_rank_is_refused(self):
        words = train_words(self.folder / "out", 2, local_rank=1)
        done = self.run_to_end("srun", "--overcommit", "-n2", "--kill-on-bad-exit=1", *words,
                               environment=self.cluster.environment, seconds=20)
        self.assertNotEqual(done.code, 0)
        self.assertIn("--local_rank 1 on the command line, local rank 0 from Slurm", done.text)


class BatchShell(SlurmCase):
    def batch(self, *words):
        """Runs a batch script with two tasks to its end; returns what it wrote."""
        line = " ".join(str(word) for word in words)
        script = self.script("job.sh", f"#!/bin/sh\n{line}\n")
        self.slurm("sbatch", "--wait", "-n2", "--overcommit", "--output", self.folder / "log", script)
        return (self.folder / "log").read_text(encoding="utf-8")

    def test_is_no_task_and_trains_as_one_process(self):
        output = self.folder / "out"
        text = self.batch(*train_words(output, 1))
        self.assertIn("inside a Slurm allocation, but not in a step: one process; srun starts the ranks", text)
        self.assert_losses_of_one_process(output)

    def test_starts_ranks_with_srun(self):
        output = self.folder / "out"
        text = self.batch("srun", "--overcommit", *train_words(output, 2))
        self.assertNotIn("not in a step", text)
        self.assert_losses_of_one_process(output)

    def test_starts_ranks_with_our_launcher(self):
        output = self.folder / "out"
        self.batch(RANKTUNE, "launch", "--nproc-per-node", "2", *train_words(output, 2))
        self.assert_losses_of_one_process(output)

    def test_of_an_interactive_allocation_is_no_task_either(self):
        output = self.folder / "out"
        text = self.slurm("salloc", "-n2", "--overcommit", *train_words(output, 1))
        self.assertIn("inside a Slurm allocation, but not in a step", text)
        self.assert_losses_of_one_process(output)


if __name__ == "__main__":
    main("slurmctld", "slurmd", "munged", "srun", PEER_PYTHON)
