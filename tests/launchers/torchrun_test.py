#!/usr/bin/env python3
"""ranktune under torchrun of the torch wheel, and a Python program of torch.distributed under `ranktune launch`."""
import json
import socket
import unittest

from support import DOCTOR, PEER_PYTHON, RANKTUNE, Case, free_port, main, train_words

TORCHRUN = [PEER_PYTHON, "-m", "torch.distributed.run", "--no-python", "--nproc-per-node", "2"]

ALL_REDUCE = """
import datetime
import torch
import torch.distributed as dist
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
print("the sum is", total.item(), flush=True)
dist.destroy_process_group()
"""


class Torchrun(Case):
    def doctor(self, *flags):
        report = self.report_of_doctor(self.succeed(*TORCHRUN, *flags, *DOCTOR))
        self.assertEqual(report["process"]["launcher"], "torchrun")
        self.assert_ranks(report)
        return report["process"]

    def test_is_recognised_with_the_variables_that_it_sets(self):
        process = self.doctor()
        sources = {one["what"]: one["source"] for one in process["evidence"]}
        self.assertEqual(sources, {"rank": "RANK", "world size": "WORLD_SIZE", "local rank": "LOCAL_RANK",
                                   "master": "MASTER_ADDR, MASTER_PORT"})

    def test_standalone_lends_its_own_store(self):
        self.doctor("--standalone")

    def test_meets_through_a_c10d_rendezvous(self):
        self.doctor("--rdzv-backend", "c10d", "--rdzv-endpoint", f"localhost:{free_port()}", "--rdzv-id", "job7")

    def test_meets_at_a_static_address(self):
        port = free_port()
        process = self.doctor("--master-addr", "127.0.0.1", "--master-port", port)
        self.assertEqual((process["master_addr"], process["master_port"]), ("127.0.0.1", port))

    def test_numbers_the_ranks_of_two_nodes(self):
        where = ["--nnodes", "2", "--master-addr", "127.0.0.1", "--master-port", free_port()]
        second = self.start(*TORCHRUN, *where, "--node-rank", "1", *DOCTOR)
        report = self.report_of_doctor(self.succeed(*TORCHRUN, *where, "--node-rank", "0", *DOCTOR))
        self.assertEqual(second.finish().code, 0, second.text)
        self.assertEqual([(one["rank"], one["local_rank"]) for one in report["ranks"]],
                         [(0, 0), (1, 1), (2, 0), (3, 1)])

    def test_trains_with_the_losses_of_one_process(self):
        for flags in ([], ["--standalone"]):
            output = self.folder / f"out{len(flags)}"
            text = self.succeed(*TORCHRUN, *flags, *train_words(output, 2))
            self.assertRegex(text, rf"rank 1 of 2, local rank 1: process \d+ on {socket.gethostname()}\n")
            self.assert_losses_of_one_process(output)

    def test_restarts_all_ranks_when_one_has_failed(self):
        # Rank 1 breaks off in its first attempt, before it meets rank 0, which waits for it meanwhile.
        once = self.script("once.sh", '#!/bin/sh\n[ "$RANK$TORCHELASTIC_RESTART_COUNT" = 10 ] && exit 9\nexec "$@"\n')
        for flags in ([], ["--standalone"]):
            output = self.folder / f"out{len(flags)}"
            self.succeed(*TORCHRUN, *flags, "--max-restarts", "1", once, *train_words(output, 2))
            self.assert_losses_of_one_process(output)

    def test_reports_the_message_of_a_rank(self):
        (self.folder / "bad.csv").write_text('sentence,label\n"never closed,glad\n', encoding="utf-8")
        words = train_words(self.folder / "out", 2, train_file="bad.csv")
        done = self.run_to_end(*TORCHRUN, *words)
        self.assertEqual(done.code, 1, done.text)
        self.assertRegex(done.text, r"exitcode *: 2 ")
        self.assertRegex(done.text, r"traceback : *bad\.csv:2:1: the quote that opens this cell never ends")
        self.assertNotIn("To enable traceback", done.text)
        self.assertFalse((self.folder / "out" / "model.safetensors").exists())

    def test_reports_the_message_of_a_rank_of_a_launcher_inside(self):
        (self.folder / "bad.csv").write_text('sentence,label\n"never closed,glad\n', encoding="utf-8")
        words = train_words(self.folder / "out", 2, train_file="bad.csv")
        outer = [PEER_PYTHON, "-m", "torch.distributed.run", "--no-python", "--nproc-per-node", "1"]
        done = self.run_to_end(*outer, RANKTUNE, "launch", "--nproc-per-node", "2", *words)
        self.assertEqual(done.code, 1, done.text)
        self.assertRegex(done.text, r"traceback : *bad\.csv:2:1: the quote")

    def test_keeps_the_lines_of_its_ranks_whole(self):
        words = train_words(self.folder / "out", 2, local_rank=-1)
        done = self.run_to_end(*TORCHRUN, *words)
        lines = [line for line in done.text.splitlines() if "ranktune train" in line]
        self.assertTrue(lines, done.text)
        for line in lines:
            self.assertTrue(line.startswith("ranktune train: error: --local_rank -1 asks"), line)


class LocalRank(Case):
    def refuse(self, message, local_rank):
        done = self.run_to_end(*TORCHRUN, *train_words(self.folder / "out", 2, local_rank=local_rank))
        self.assertEqual(done.code, 1, done.text)
        self.assertIn(message, done.text)
        self.assertFalse((self.folder / "out").exists())

    def test_of_minus_one_is_refused_among_several_ranks(self):
        self.refuse("--local_rank -1 asks for one process, but torchrun started 2", -1)

    def test_that_contradicts_the_launcher_is_refused_with_both_values(self):
        self.refuse("--local_rank 5 on the command line, local rank 0 from torchrun", 5)

    def test_comes_from_the_old_launcher_in_a_variable(self):
        old = [PEER_PYTHON, "-m", "torch.distributed.launch", "--no-python", "--use-env", "--nproc-per-node", "2",
               "--master-port", free_port()]
        report = self.report_of_doctor(self.succeed(*old, *DOCTOR))
        self.assert_ranks(report)


class OurLauncher(Case):
    def test_starts_programs_of_torch_distributed(self):
        program = self.script("all_reduce.py", ALL_REDUCE)
        text = self.succeed(RANKTUNE, "launch", "--nproc-per-node", "2", program,
                            environment={"PYTHON_EXEC": str(PEER_PYTHON)})
        for rank in range(2):
            self.assertIn(f"[{rank}]: the sum is 3.0\n", text)

    def test_shows_the_error_that_elastic_records(self):
        program = self.script("fails.py", "from torch.distributed.elastic.multiprocessing.errors import record\n"
                                          "@record\ndef main():\n    raise ValueError('row 3 is empty')\nmain()\n")
        done = self.run_to_end(RANKTUNE, "launch", program, environment={"PYTHON_EXEC": str(PEER_PYTHON)})
        self.assertEqual(done.code, 1, done.text)
        self.assertIn("ValueError: row 3 is empty", done.text)

    def test_gives_the_variables_that_torchrun_gives(self):
        show = self.script("show.py", "import json, os\nprint('ENV', json.dumps(dict(os.environ)), flush=True)\n")
        given = {}
        for name, words in {"torchrun": [PEER_PYTHON, "-m", "torch.distributed.run", show],
                            "ours": [RANKTUNE, "launch", show]}.items():
            text = self.succeed(*words, environment={"PYTHON_EXEC": str(PEER_PYTHON)})
            given[name] = set(json.loads(text.split("ENV ", 1)[1].splitlines()[0]))
        # This one the launcher reads back itself.
        missing = given["torchrun"] - given["ours"] - {"TORCHELASTIC_SIGNALS_TO_HANDLE"}
        self.assertEqual(missing, set())


if __name__ == "__main__":
    main(PEER_PYTHON)
