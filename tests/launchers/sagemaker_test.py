#!/usr/bin/env python3
"""ranktune as the program of a SageMaker training job: under the toolkit from PyPI, which knows a container by its files
below SAGEMAKER_BASE_DIR, and alone as the container's program, which finds nothing but those files.
"""
import json
import shutil
import unittest

from support import (FIXTURES, RANKTUNE, SAGEMAKER_PYTHON, STEPS, Case, free_port, losses, losses_of_one_process, main)

TOOLKIT = [SAGEMAKER_PYTHON, "-m", "sagemaker_training.cli.train"]
HOSTS = ["127.0.0.1", "127.0.0.2"]  # the toolkit waits until all of them resolve
NOTE = "smdistributed needs Python: NCCL, or Gloo on CPUs, does its work"

# As an SDK sends them: texts, in which there is JSON.
HYPERPARAMETERS = {
    "do_train": "true", "use_cpu": "true", "max_steps": str(STEPS), "logging_steps": "1", "learning_rate": "0.001",
    "disable_tqdm": "true", "save_strategy": "\"no\"", "ddp_timeout": "30"}


class Container:
    """A folder like /opt/ml of one host."""

    def __init__(self, folder, hosts=("localhost",), own=0, batch=32, **hyperparameters):
        self.folder = folder
        self.environment = {"SAGEMAKER_BASE_DIR": str(folder)}
        for name in ("input/config", "input/data/train", "input/data/validation", "input/data/model", "model",
                     "output/data", "code"):
            (folder / name).mkdir(parents=True)
        for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt"):
            shutil.copy(FIXTURES / "tiny_bert" / name, folder / "input/data/model")
        shutil.copy(FIXTURES / "training" / "train.csv", folder / "input/data/train")
        shutil.copy(FIXTURES / "training" / "dev.csv", folder / "input/data/validation")
        program = folder / "code" / "train.sh"
        program.write_text(f'#!/bin/sh\nexec "{RANKTUNE}" train "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        self.write("hyperparameters", {
            **HYPERPARAMETERS, "per_device_train_batch_size": str(batch), "sagemaker_program": json.dumps("train.sh"),
            "sagemaker_submit_directory": json.dumps(str(folder / "code")), **hyperparameters})
        self.write("resourceconfig", {"current_host": hosts[own], "hosts": list(hosts), "network_interface_name": "lo"})
        self.write("inputdataconfig", {name: {"TrainingInputMode": "File", "S3DistributionType": "FullyReplicated"}
                                       for name in ("train", "validation", "model")})

    def write(self, name, content):
        (self.folder / "input" / "config" / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")

    @property
    def model(self):
        return self.folder / "model"

    @property
    def failure(self):
        return (self.folder / "output" / "failure").read_text(encoding="utf-8")


class Job:
    """What holds with the toolkit and without."""

    def start_in(self, container, *words, **environment):
        return self.start(*self.COMMAND, *words, environment={**container.environment, **environment})

    def run_in(self, container, code=0, **environment):
        done = self.start_in(container, **environment).finish()
        self.assertEqual(done.code, code, done.text)
        return done.text

    def run_on_two_hosts(self, **hyperparameters):
        containers = [Container(self.folder / f"host{own}", HOSTS, own, batch=16, **hyperparameters)
                      for own in range(2)]
        port = str(free_port())
        jobs = [self.start_in(container, MASTER_PORT=port) for container in containers]
        for job in jobs:
            self.assertEqual(job.finish().code, 0, job.text)
        return containers, jobs

    def test_trains_on_its_channels_into_the_model_folder(self):
        container = Container(self.folder / "ml")
        self.run_in(container)
        self.assert_losses_of_one_process(container.model)
        self.assertTrue((container.model / "config.json").is_file())
        self.assertFalse((container.folder / "output" / "failure").exists())

    def test_evaluates_on_the_validation_channel(self):
        container = Container(self.folder / "ml", do_eval="true")
        self.run_in(container)
        results = json.loads((container.model / "all_results.json").read_text(encoding="utf-8"))
        self.assertGreater(results["eval_samples"], 0)

    def test_takes_its_ranks_from_the_list_of_hosts(self):
        containers, jobs = self.run_on_two_hosts()
        self.assert_losses_of_one_process(containers[0].model)
        self.assertFalse((containers[1].model / "model.safetensors").exists())
        self.assertNotIn("train metrics", jobs[1].text)

    def test_that_wants_smdistributed_is_told_what_it_gets(self):
        containers, jobs = self.run_on_two_hosts(sagemaker_distributed_dataparallel_enabled="true")
        self.assert_losses_of_one_process(containers[0].model)
        self.assertEqual([NOTE in job.text for job in jobs], [True, False])

    def test_leaves_the_reason_of_its_failure(self):
        container = Container(self.folder / "ml")
        (container.folder / "input/data/train/train.csv").write_text('sentence,label\n"never closed,glad\n')
        text = self.run_in(container, code=self.USAGE)
        reason = f"{container.folder}/input/data/train/train.csv:2:1: the quote that opens this cell never ends"
        self.assertIn(reason, text)
        self.assertTrue(container.failure.startswith(reason), container.failure)

    def test_leaves_the_reason_why_a_hyperparameter_is_refused(self):
        container = Container(self.folder / "ml", learning_rte="1")
        self.run_in(container, code=self.USAGE)
        self.assertIn("unknown flag --learning_rte; did you mean --learning_rate?", container.failure)


class Toolkit(Job, Case):
    COMMAND, USAGE = TOOLKIT, 1  # whatever its program ended with


class Alone(Job, Case):
    COMMAND, USAGE = [RANKTUNE, "train"], 2

    def test_gives_way_to_arguments_of_the_container(self):
        container = Container(self.folder / "ml", seed="7")
        done = self.start_in(container, "--seed", "42", "--output_dir", self.folder / "out").finish()
        self.assertEqual(done.code, 0, done.text)
        self.assert_losses_of_one_process(self.folder / "out")
        self.assertEqual(list(container.model.iterdir()), [])

    def test_obeys_its_hyperparameters(self):
        container = Container(self.folder / "ml", seed="7")
        self.run_in(container)
        self.assertNotEqual(losses(container.model), losses_of_one_process())

    def test_starts_ranks_of_its_own_on_each_host(self):
        containers = [Container(self.folder / f"host{own}", HOSTS, own, batch=8) for own in range(2)]
        port = str(free_port())
        jobs = [self.start(RANKTUNE, "launch", "--nnodes", "auto", "--nproc-per-node", 2, "--master-port", port,
                           RANKTUNE, "train", environment=container.environment) for container in containers]
        for job in jobs:
            self.assertEqual(job.finish().code, 0, job.text)
        self.assert_losses_of_one_process(containers[0].model)


if __name__ == "__main__":
    main(SAGEMAKER_PYTHON)
