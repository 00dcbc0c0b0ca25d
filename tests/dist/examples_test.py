"""The examples print the same with one rank and with several."""
import os
import re
import subprocess
import unittest
from pathlib import Path

BIN = Path(os.environ["RANKTUNE_BIN_DIR"])
EXAMPLES = BIN.parent / "examples"


def run(name, ranks):
    launch = [BIN / "ranktune", "launch", "--nproc-per-node", str(ranks)] if ranks else []
    done = subprocess.run([*launch, EXAMPLES / name], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"{name} with {ranks} ranks ended with {done.returncode}:\n{done.stderr}")
    return [re.sub(r"^\[\d+\]: ", "", line) for line in done.stdout.splitlines()]


class Examples(unittest.TestCase):
    def test_ddp_minimal_learns_the_same_with_one_rank_and_with_several(self):
        alone = run("ddp_minimal", 0)
        numbers = [float(word) for word in re.findall(r"-?\d+\.\d+", "\n".join(alone[:-1]))]
        self.assertEqual(len(numbers), 3, alone)
        for number, wanted in zip(numbers, [2, -1, 0.5]):
            self.assertAlmostEqual(number, wanted, delta=1e-3)
        for ranks in (1, 2, 3):
            self.assertEqual(run("ddp_minimal", ranks), alone)

    def test_all_reduce_adds_up_over_the_ranks(self):
        self.assertEqual(run("all_reduce", 0)[-1], "1 + ... + 1 = 1")
        lines = run("all_reduce", 3)
        self.assertEqual(lines[-1], "1 + ... + 3 = 6")
        self.assertEqual([line.split(",")[0] for line in lines[:-1]], ["rank 0", "rank 1", "rank 2"])


if __name__ == "__main__":
    unittest.main()
