#!/usr/bin/env python3
"""ranktune on several hosts: network namespaces with a name, a loopback and two network cards each, joined by a switch.

One card of each host leads nowhere; nothing but the way to the master tells which.
"""
import os
import subprocess
import unittest

from support import DOCTOR, PEER_PYTHON, RANKTUNE, Case, free_port, main, skip, train_words

SWITCH = f"ranktune-{os.getpid()}-switch"


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True, text=True)


def namespace(number):
    return f"ranktune-{os.getpid()}-{number}"


def why_not():
    """What keeps this machine from having network namespaces; None when nothing does."""
    try:
        ip("netns", "add", SWITCH)
    except subprocess.CalledProcessError as error:
        return error.stderr.strip()
    try:
        ip("-n", SWITCH, "link", "add", "bridge0", "type", "bridge")
    except subprocess.CalledProcessError as error:
        return error.stderr.strip()
    finally:
        ip("netns", "delete", SWITCH)
    return None


class Network(Case):
    """Hosts 0, 1, ... with the addresses 10.77.0.1, 10.77.0.2, ... and the names host0, host1, ..."""

    HOSTS = 2
    NAMES = [f"host{number}" for number in range(3)]

    def setUp(self):
        self.namespaces = []
        self.addCleanup(self.delete_namespaces)  # registered first: runs when all processes have ended
        super().setUp()
        self.add_namespace(SWITCH)
        ip("-n", SWITCH, "link", "add", "bridge0", "type", "bridge")
        ip("-n", SWITCH, "link", "set", "bridge0", "up")
        for number in range(self.HOSTS):
            self.add_host(number)

    def add_namespace(self, name):
        ip("netns", "add", name)
        self.namespaces.append(name)

    def delete_namespaces(self):
        for name in self.namespaces:
            ip("netns", "delete", name)

    def add_host(self, number):
        name = namespace(number)
        self.add_namespace(name)
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "add", "idle0", "type", "veth", "peer", "name", "idle1")
        ip("-n", name, "address", "add", f"10.66.{number}.1/24", "dev", "idle0")
        ip("-n", name, "link", "add", "lan0", "type", "veth", "peer", "name", f"port{number}", "netns", SWITCH)
        ip("-n", name, "address", "add", f"10.77.0.{number + 1}/24", "dev", "lan0")
        ip("-n", SWITCH, "link", "set", f"port{number}", "master", "bridge0", "up")
        for card in ("idle0", "idle1", "lan0"):
            ip("-n", name, "link", "set", card, "up")

    def on(self, number, *words):
        """Starts a command on a host."""
        rename = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', self.NAMES[number]]
        return self.start("ip", "netns", "exec", namespace(number), *rename, *words)

    def launch(self, number, *words, master="10.77.0.1", flags=()):
        return self.on(number, RANKTUNE, "launch", "--nnodes", self.HOSTS, "--node-rank", number, "--master-addr",
                       master, "--master-port", self.port, "--nproc-per-node", 2, *flags, *words)

    def succeed_everywhere(self, *words, **options):
        """Runs a command on all hosts, two ranks on each; returns what the first one wrote."""
        self.port = free_port()
        launchers = [self.launch(number, *words, **options) for number in reversed(range(self.HOSTS))]
        for launcher in launchers:
            launcher.finish()
        self.assertEqual([launcher.code for launcher in launchers], [0] * self.HOSTS,
                         "\n".join(launcher.text for launcher in launchers))
        return launchers[-1].text


class TwoHosts(Network):
    def test_meet_on_the_way_to_the_master(self):
        report = self.report_of_doctor(self.succeed_everywhere(*DOCTOR))
        self.assert_ranks(report, world=4, nodes=2)
        self.assertEqual([one["host"] for one in report["ranks"]], ["host0", "host0", "host1", "host1"])
        self.assertEqual(report["network"], "lan0 (10.77.0.1): the way to 10.77.0.1")
        self.assertEqual([one for one in report["problems"] if "OMP_NUM_THREADS" not in one], [])

    def test_train_with_the_losses_of_one_process(self):
        output = self.folder / "out"
        self.succeed_everywhere(*train_words(output, 4))
        self.assert_losses_of_one_process(output)

    def test_start_from_torchrun_as_well(self):
        self.port = free_port()
        torchrun = [PEER_PYTHON, "-m", "torch.distributed.run", "--no-python", "--nproc-per-node", 2, "--nnodes", 2,
                    "--master-addr", "10.77.0.1", "--master-port", self.port]
        second = self.on(1, *torchrun, "--node-rank", 1, *DOCTOR)
        first = self.on(0, *torchrun, "--node-rank", 0, *DOCTOR).finish()
        self.assertEqual((first.code, second.finish().code), (0, 0), first.text + second.text)
        report = self.report_of_doctor(first.text)
        self.assert_ranks(report, world=4, nodes=2)
        self.assertEqual(report["network"], "lan0 (10.77.0.1): the way to 10.77.0.1")

    def test_start_without_a_launcher_one_rank_each(self):
        # What Kubeflow and others set: RANK counts machines.
        self.port = free_port()
        variables = ["env", "WORLD_SIZE=2", "MASTER_ADDR=10.77.0.1", f"MASTER_PORT={self.port}"]
        output = self.folder / "out"
        both = [self.on(rank, *variables, f"RANK={rank}", *train_words(output, 2)) for rank in (0, 1)]
        for one in both:
            self.assertEqual(one.finish().code, 0, one.text)
        self.assert_losses_of_one_process(output)

    def test_name_the_ranks_of_a_host_that_never_comes(self):
        self.port = free_port()
        done = self.launch(0, *train_words(self.folder / "out", 4, ddp_timeout=3)).finish(30)
        self.assertEqual(done.code, 1, done.text)
        self.assertIn("ranks 2 and 3 of 4 did not come to 10.77.0.1:", done.text)
        self.assertFalse((self.folder / "out").exists())

    def test_do_not_wait_beyond_the_time_for_a_master_that_never_comes(self):
        self.port = free_port()
        done = self.launch(1, *train_words(self.folder / "out", 4, ddp_timeout=3)).finish(30)
        self.assertEqual(done.code, 1, done.text)
        self.assertIn(f"no store answers at 10.77.0.1:{self.port}", done.text)

    def test_say_so_when_there_is_no_way_to_the_master(self):
        self.port = free_port()
        done = self.launch(1, *train_words(self.folder / "out", 4, ddp_timeout=3), master="10.88.0.1").finish(30)
        self.assertEqual(done.code, 1, done.text)
        self.assertIn(f"no store answers at 10.88.0.1:{self.port}", done.text)
        done = self.launch(1, *DOCTOR[:-1], 3, master="10.88.0.1").finish(30)
        self.assertIn("10.88.0.1", done.text)
        self.assertNotEqual(done.code, 0)

    def test_cannot_meet_at_a_loopback_address(self):
        self.port = free_port()
        words = train_words(self.folder / "out", 4, ddp_timeout=3)
        both = [self.launch(number, *words, master="127.0.0.1") for number in (0, 1)]
        for one in both:
            self.assertEqual(one.finish(30).code, 1, one.text)
            self.assertIn("--master_addr 127.0.0.1 with --nnodes 2 works only where all "
                          "of them are started on this machine", one.text)
        self.assertIn("ranks 2 and 3 of 4 did not come to 127.0.0.1:", both[0].text)
        self.assertIn("no store answers at 127.0.0.1:", both[1].text)

    def test_end_when_a_rank_of_the_other_is_killed(self):
        self.port = free_port()
        words = train_words(self.folder / "out", 4, max_steps=1_000_000, ddp_timeout=60)
        first = self.launch(0, *words)
        second = self.launch(1, "sh", "-c", 'echo "rank $RANK is $$"; exec "$@"', "sh", *words)
        pid = int(second.wait_for(r"rank 3 is (\d+)")[1])
        first.wait_for("first update")
        os.kill(pid, 9)
        self.assertEqual(second.finish(30).code, 128 + 9, second.text)
        self.assertIn("rank 3 failed first: killed by SIGKILL", second.text)
        self.assertEqual(first.finish(30).code, 1, first.text)


class HostsOfOneName(Network):
    NAMES = ["localhost"] * 3

    def test_are_still_two(self):
        report = self.report_of_doctor(self.succeed_everywhere(*DOCTOR))
        self.assertEqual(len(report["ranks"]), 4)
        self.assertGreater(report["timings"]["all_reduce"][0]["ms"], 0)


class ThreeHosts(Network):
    HOSTS = 3

    def test_number_their_ranks_in_turn(self):
        report = self.report_of_doctor(self.succeed_everywhere(*DOCTOR))
        self.assert_ranks(report, world=6, nodes=3)
        self.assertEqual([one["host"] for one in report["ranks"]],
                         [f"host{rank // 2}" for rank in range(6)])


if __name__ == "__main__":
    if not any(os.access(f"{folder}/ip", os.X_OK) for folder in ("/usr/sbin", "/sbin", "/usr/bin", "/bin")):
        skip("there is no ip; './run test launchers' installs it")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    reason = why_not()
    if reason:
        skip(f"this machine does not allow network namespaces: {reason}")
    main("unshare", PEER_PYTHON)
