#!/usr/bin/env python3
"""ranktune under Open MPI and MPICH, which find no place in it but their variables."""
import os
import unittest

from support import DOCTOR, RANKTUNE, Case, free_port, main, train_words

# As many ranks as asked for, whatever the machine has, and root may start them: tests run in containers.
OPEN_MPI_VARIABLES = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OPEN_MPI = ["mpirun.openmpi", "--oversubscribe"]
MPICH = ["mpirun.mpich"]


class Family:
    """What both have to do."""

    def mpirun(self, *words, ranks=2):
        return [*self.MPIRUN, "-np", ranks, *words]

    def test_is_recognised_with_its_variables(self):
        report = self.report_of_doctor(self.succeed(*self.mpirun(*DOCTOR), environment=self.VARIABLES))
        self.assert_ranks(report)
        process = report["process"]
        self.assertEqual(process["launcher"], self.NAME)
        sources = {one["what"]: one["source"] for one in process["evidence"]}
        self.assertEqual([sources[what] for what in ("rank", "world size", "local rank")], self.SOURCES)

    def test_needs_no_master_on_one_machine(self):
        process = self.report_of_doctor(self.succeed(*self.mpirun(*DOCTOR), environment=self.VARIABLES))["process"]
        self.assertEqual(process["master_addr"], "127.0.0.1")
        self.assertGreater(process["master_port"], 1023)

    def test_gives_two_jobs_at_once_ports_of_their_own(self):
        jobs = [self.start(*self.mpirun(*DOCTOR), environment=self.VARIABLES) for _ in range(2)]
        ports = set()
        for job in jobs:
            self.assertEqual(job.finish().code, 0, job.text)
            ports.add(self.report_of_doctor(job.text)["process"]["master_port"])
        self.assertEqual(len(ports), 2)

    def test_takes_the_master_that_is_given(self):
        port = free_port()
        given = {**self.VARIABLES, "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
        process = self.report_of_doctor(self.succeed(*self.mpirun(*DOCTOR), environment=given))["process"]
        self.assertEqual((process["master_addr"], process["master_port"]), ("localhost", port))

    def test_trains_with_the_losses_of_one_process(self):
        output = self.folder / "out"
        text = self.succeed(*self.mpirun(*train_words(output, 2)), environment=self.VARIABLES)
        self.assertEqual(text.count("***** train metrics *****"), 1, text)
        self.assert_losses_of_one_process(output)

    def test_starts_one_rank_that_trains_alone(self):
        output = self.folder / "out"
        self.succeed(*self.mpirun(*train_words(output, 1, local_rank=-1), ranks=1), environment=self.VARIABLES)
        self.assert_losses_of_one_process(output)

    def test_ends_the_job_when_a_rank_is_refused(self):
        words = train_words(self.folder / "out", 2, local_rank=1)
        done = self.run_to_end(*self.mpirun(*words), environment=self.VARIABLES, seconds=20)
        self.assertEqual(done.code, 2, done.text)
        self.assertIn(f"--local_rank 1 on the command line, local rank 0 from {self.NAME}", done.text)

    def test_ends_the_job_when_a_rank_fails_before_the_others_meet_it(self):
        # Rank 0 would wait for rank 1 for 30 s.
        (self.folder / "broken.json").write_text('{"seed": "many"}', encoding="utf-8")
        some = self.script("some.sh", f'#!/bin/sh\n[ "${self.SOURCES[0]}" = 1 ] && set -- "$@" broken.json\n'
                                      'exec "$@"\n')
        words = train_words(self.folder / "out", 2)
        for _ in range(5):  # the message is not to be lost by chance
            done = self.run_to_end(*self.mpirun(some, *words), environment=self.VARIABLES, seconds=20)
            self.assertEqual(done.code, 2, done.text)
            self.assertIn("ranktune train: error: broken.json:1:2: seed must be", done.text)

    def test_is_not_asked_where_the_user_says_so(self):
        output = self.folder / "out"
        alone = {**self.VARIABLES, "RANKTUNE_LAUNCH": "none"}
        self.succeed(*self.mpirun(*train_words(output, 1), ranks=1), environment=alone)
        self.assert_losses_of_one_process(output)

    def test_starts_our_launcher_whose_variables_win(self):
        report = self.report_of_doctor(self.succeed(
            *self.mpirun(RANKTUNE, "launch", "--nproc-per-node", "2", *DOCTOR, ranks=1), environment=self.VARIABLES))
        self.assert_ranks(report)
        self.assertEqual(report["process"]["launcher"], "ranktune launch")


class OpenMpi(Family, Case):
    NAME, MPIRUN, VARIABLES = "Open MPI", OPEN_MPI, OPEN_MPI_VARIABLES
    SOURCES = ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"]

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two ranks cannot be bound to one core")
    def test_binds_ranks_to_cores_which_is_no_problem(self):
        report = self.report_of_doctor(self.succeed(*self.mpirun("--bind-to", "core", *DOCTOR),
                                                    environment=self.VARIABLES))
        self.assertEqual(report["cores"], 1)
        self.assertEqual(report["problems"], [])


class Mpich(Family, Case):
    NAME, MPIRUN, VARIABLES = "MPICH", MPICH, {}
    SOURCES = ["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"]


if __name__ == "__main__":
    main("mpirun.openmpi", "mpirun.mpich")
