#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ranktune/core/error.h"
#include "ranktune/launch/launch_env.h"
#include "support/error_text.h"

namespace ranktune::launch {
namespace {

using ::testing::HasSubstr;
using tests::error_text;
using Words = std::vector<std::string>;

std::optional<std::string> no_files(const std::filesystem::path&) {
  return std::nullopt;
}

LaunchEnv env_of(const Variables& variables, const Words& words = {}) {
  return detect(words, variables, no_files).env;
}

std::string complaint(const Variables& variables, const Words& words = {}) {
  return error_text<UsageError>([&] { env_of(variables, words); });
}

/// "rank/world, local rank/local size, node/nodes"
std::string numbers(const LaunchEnv& env) {
  const auto pair = [](std::int64_t a, std::int64_t b) {
    return std::to_string(a) + "/" + std::to_string(b);
  };
  return pair(env.rank, env.world_size) + ", " + pair(env.local_rank, env.local_world_size) + ", " +
         pair(env.node_rank, env.nodes);
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

const Variables kTorchrun = {{"RANK", "5"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "4"},
                             {"GROUP_RANK", "1"},
                             {"GROUP_WORLD_SIZE", "2"},
                             {"MASTER_ADDR", "head"},
                             {"MASTER_PORT", "1234"},
                             {"TORCHELASTIC_RUN_ID", "job"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                             {"TORCHELASTIC_RESTART_COUNT", "2"}};

TEST(Detect, IsAloneWhereNothingLaunchedIt) {
  for (const Variables& variables :
       {Variables{}, Variables{{"WORLD_SIZE", "1"}}, Variables{{"RANK", ""}, {"WORLD_SIZE", " "}}}) {
    const LaunchEnv env = env_of(variables);
    EXPECT_EQ(numbers(env), "0/1, -1/1, 0/1");
    EXPECT_FALSE(env.distributed());
    EXPECT_TRUE(env.launcher.empty());
  }
}

TEST(Detect, ReadsTorchrun) {
  const LaunchEnv env = env_of(kTorchrun);
  EXPECT_EQ(env.launcher, "torchrun");
  EXPECT_EQ(numbers(env), "5/8, 1/4, 1/2");
  EXPECT_EQ(env.master_addr, "head");
  EXPECT_EQ(env.master_port, 1234);
  EXPECT_EQ(env.run_id, "job");
  EXPECT_EQ(env.restart_count, 2);
  EXPECT_TRUE(env.agent_store);
  EXPECT_FALSE(env_of(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "true"}})).agent_store);
}

TEST(Detect, TakesTheArgumentOutWhereverAndHoweverItIsWritten) {
  for (const Words& form : {Words{"--local_rank=1"}, Words{"--local-rank=1"}, Words{"--local_rank", "1"},
                            Words{"--local-rank", "1"}})
    for (const bool before : {true, false}) {
      Words words{"--lr", "1"};
      words.insert(before ? words.begin() : words.end(), form.begin(), form.end());
      const Detection found = detect(words, kTorchrun, no_files);
      EXPECT_EQ(found.arguments, (Words{"--lr", "1"}));
      EXPECT_EQ(found.env.local_rank_argument, 1);
    }
}

TEST(Detect, ReadsTheOldLauncherThatSetsNoLocalRank) {
  const Variables old = {
      {"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}};
  const LaunchEnv env = env_of(old, {"--local_rank=1"});
  EXPECT_EQ(env.launcher, "torch.distributed.launch");
  EXPECT_EQ(env.local_rank, 1);
  EXPECT_EQ(env.rank, 3);
}

TEST(Detect, ReadsTheMpiFamilies) {
  const LaunchEnv open_mpi = env_of({{"OMPI_COMM_WORLD_RANK", "2"},
                                     {"OMPI_COMM_WORLD_SIZE", "3"},
                                     {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
                                     {"OMPI_COMM_WORLD_NODE_RANK", "2"},
                                     {"PMIX_NAMESPACE", "7@1"},
                                     {"PMIX_RANK", "2"}});
  EXPECT_EQ(open_mpi.launcher, "Open MPI");
  EXPECT_EQ(numbers(open_mpi), "2/3, 2/3, 0/1");
  EXPECT_EQ(open_mpi.master_addr, "127.0.0.1");
  EXPECT_GE(open_mpi.master_port, 10000);
  EXPECT_LT(open_mpi.master_port, 32768);
  EXPECT_EQ(open_mpi.run_id, "7@1");
  const LaunchEnv mpich = env_of({{"PMI_RANK", "1"},
                                  {"PMI_SIZE", "4"},
                                  {"MPI_LOCALRANKID", "1"},
                                  {"MPI_LOCALNRANKS", "2"},
                                  {"MASTER_ADDR", "n0"}});
  EXPECT_EQ(mpich.launcher, "MPICH");
  EXPECT_EQ(numbers(mpich), "1/4, 1/2, 0/2");
  EXPECT_EQ(mpich.master_port, 29500);
  const LaunchEnv cray =
      env_of({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PMI_LOCAL_RANK", "1"}, {"PMI_LOCAL_SIZE", "2"}});
  EXPECT_EQ(cray.launcher, "Cray PALS");
  EXPECT_EQ(numbers(cray), "1/2, 1/2, 0/1");
  EXPECT_EQ(env_of({{"MV2_COMM_WORLD_RANK", "0"},
                    {"MV2_COMM_WORLD_SIZE", "2"},
                    {"MV2_COMM_WORLD_LOCAL_RANK", "0"},
                    {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}})
                .launcher,
            "MVAPICH2");
  EXPECT_EQ(env_of({{"JSM_NAMESPACE_RANK", "0"},
                    {"JSM_NAMESPACE_SIZE", "2"},
                    {"JSM_NAMESPACE_LOCAL_RANK", "0"},
                    {"JSM_NAMESPACE_LOCAL_SIZE", "2"}})
                .launcher,
            "jsrun");
}

TEST(Detect, TellsJobsOfMpichApartByTheProxyThatStartedTheirRanks) {
  const Variables mpich = {
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
  // Rank, a shell that wraps it, the proxy, mpirun.
  const auto job = [&](const std::string& proxy) {
    const std::map<std::string, std::string> files = {
        {"/proc/self/status", "Name:\tranktune\nPid:\t90\nPPid:\t80\n"},
        {"/proc/80/status", "Name:\tsh\nPPid:\t" + proxy + "\n"},
        {"/proc/" + proxy + "/status", "Name:\thydra_pmi_proxy\nPPid:\t60\n"},
        {"/proc/60/status", "Name:\tmpirun\nPPid:\t0\n"}};
    return detect({}, mpich,
                  [&](const std::filesystem::path& path) -> std::optional<std::string> {
                    const auto found = files.find(path);
                    return found == files.end() ? std::nullopt : std::optional(found->second);
                  })
        .env;
  };
  EXPECT_NE(job("70").master_port, job("71").master_port);
  EXPECT_EQ(job("70").master_port, job("70").master_port);
  EXPECT_NE(job("70").run_id, job("71").run_id);
  EXPECT_EQ(env_of(mpich).run_id, "");
}

TEST(Detect, SeesThatOpenMpiHasBoundTheRanksToCores) {
  const Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "0"},
                              {"OMPI_COMM_WORLD_SIZE", "2"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                              {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_FALSE(env_of(open_mpi).own_cores);
  const Variables bound = with(open_mpi, {{"OMPI_MCA_orte_bound_at_launch", "1"}});
  EXPECT_TRUE(env_of(bound).own_cores);
  EXPECT_FALSE(env_of(with(kTorchrun, bound)).own_cores);
}

TEST(Detect, NeedsAMasterForSeveralMachinesUnderMpi) {
  EXPECT_EQ(complaint({{"OMPI_COMM_WORLD_RANK", "2"},
                       {"OMPI_COMM_WORLD_SIZE", "4"},
                       {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                       {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
            "ranks on several machines, and no MASTER_ADDR: name the machine of rank 0, as in mpirun -x "
            "MASTER_ADDR=host -x "
            "MASTER_PORT=29500 (MPICH: -genv MASTER_ADDR host -genv MASTER_PORT 29500)");
}

const Variables kSlurm = {{"SLURM_JOB_ID", "77"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_PROCID", "3"},
                          {"SLURM_NTASKS", "5"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_NODEID", "1"},
                          {"SLURM_STEP_NUM_NODES", "3"},
                          {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"},
                          {"SLURM_STEP_NODELIST", "n[08-10]"}};

TEST(Detect, ReadsASlurmStepButNoShell) {
  const LaunchEnv env = env_of(kSlurm);
  EXPECT_EQ(env.launcher, "Slurm");
  EXPECT_EQ(numbers(env), "3/5, 1/2, 1/3");
  EXPECT_EQ(env.master_addr, "n08");
  EXPECT_EQ(env.run_id, "77");
  EXPECT_NE(env.master_port, env_of(with(kSlurm, {{"SLURM_STEP_ID", "1"}})).master_port);
  const Variables shell = {
      {"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "5"}, {"SLURM_LOCALID", "0"}};
  for (const Variables& variables :
       {shell, with(shell, {{"SLURM_STEP_ID", "4294967291"}}), with(shell, {{"SLURM_STEP_ID", "batch"}})}) {
    EXPECT_FALSE(env_of(variables).distributed());
    ASSERT_EQ(env_of(variables).notes.size(), 1U);
    EXPECT_EQ(env_of(variables).notes[0],
              "inside a Slurm allocation, but not in a step: one process; srun starts the ranks");
  }
}

TEST(Detect, PrefersTheInnermostLauncher) {
  EXPECT_EQ(env_of(with(kSlurm, kTorchrun)).launcher, "torchrun");
  EXPECT_EQ(env_of(with(kSlurm, {{"OMPI_COMM_WORLD_RANK", "0"},
                                 {"OMPI_COMM_WORLD_SIZE", "1"},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                 {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}))
                .launcher,
            "Open MPI");
}

TEST(Detect, ObeysTheOverride) {
  EXPECT_FALSE(env_of(with(kTorchrun, {{"RANKTUNE_LAUNCH", "none"}})).distributed());
  EXPECT_EQ(env_of(with(with(kSlurm, kTorchrun), {{"RANKTUNE_LAUNCH", "slurm"}})).launcher, "Slurm");
  EXPECT_EQ(complaint({{"RANKTUNE_LAUNCH", "maybe"}}),
            "RANKTUNE_LAUNCH=maybe: it is none, torchrun, mpi or slurm");
}

TEST(Detect, NamesTheOtherLaunchersOfTorchrunsVariables) {
  const Variables plain = {{"RANK", "0"},
                           {"WORLD_SIZE", "2"},
                           {"LOCAL_RANK", "0"},
                           {"LOCAL_WORLD_SIZE", "2"},
                           {"MASTER_ADDR", "a"}};
  EXPECT_EQ(env_of(with(plain, {{"AZUREML_RUN_ID", "x"}})).launcher, "Azure ML");
  EXPECT_EQ(env_of(with(plain, {{"RAY_JOB_ID", "x"}})).launcher, "Ray");
  const LaunchEnv deep = env_of({{"RANK", "1"},
                                 {"WORLD_SIZE", "4"},
                                 {"LOCAL_RANK", "1"},
                                 {"LOCAL_SIZE", "2"},
                                 {"CROSS_RANK", "0"},
                                 {"CROSS_SIZE", "2"},
                                 {"MASTER_ADDR", "a"}});
  EXPECT_EQ(deep.launcher, "DeepSpeed");
  EXPECT_EQ(numbers(deep), "1/4, 1/2, 0/2");
}

TEST(Detect, TakesRanksWithoutLocalRankForMachines) {
  const LaunchEnv env = env_of({{"RANK", "1"},
                                {"WORLD_SIZE", "2"},
                                {"MASTER_ADDR", "job-master-0"},
                                {"MASTER_PORT", "23456"},
                                {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}});
  EXPECT_EQ(env.launcher, "Kubeflow");
  EXPECT_EQ(numbers(env), "1/2, 0/1, 1/2");
}

TEST(Detect, ReadsFlux) {
  const LaunchEnv env = env_of({{"FLUX_TASK_RANK", "1"},
                                {"FLUX_JOB_SIZE", "2"},
                                {"FLUX_TASK_LOCAL_ID", "1"},
                                {"FLUX_JOB_ID", "f1"},
                                {"MASTER_ADDR", "n1"}});
  EXPECT_EQ(env.launcher, "Flux");
  EXPECT_EQ(env.rank, 1);
}

TEST(Detect, ReadsSageMakersFile) {
  const FileReader files = [](const std::filesystem::path& path) -> std::optional<std::string> {
    if (path != "/opt/ml/input/config/resourceconfig.json") return std::nullopt;
    return R"({"current_host": "algo-2", "hosts": ["algo-1", "algo-10", "algo-2"], "network_interface_name": "eth0"})";
  };
  const LaunchEnv env =
      detect({}, {{"SM_FRAMEWORK_PARAMS", R"({"sagemaker_distributed_dataparallel_enabled": true})"}}, files)
          .env;
  EXPECT_EQ(env.launcher, "SageMaker");
  EXPECT_EQ(numbers(env), "2/3, 0/1, 2/3");
  EXPECT_EQ(env.master_addr, "algo-1");
  EXPECT_EQ(env.master_port, 7777);
  EXPECT_EQ(env.notes.size(), 1U);
}

TEST(Detect, SaysWhoDoesTheWorkOfSmdistributed) {
  const auto notes = [](const std::string& hyperparameters, const std::string& hosts,
                        const Variables& variables) {
    return detect({}, variables,
                  [&](const std::filesystem::path& path) -> std::optional<std::string> {
                    if (path == "/opt/ml/input/config/hyperparameters.json") return hyperparameters;
                    if (path != "/opt/ml/input/config/resourceconfig.json") return std::nullopt;
                    return R"({"current_host": "a", "hosts": [)" + hosts + "]}";
                  })
        .env.notes.size();
  };
  const std::string asked = R"({"sagemaker_distributed_dataparallel_enabled": "true"})";
  EXPECT_EQ(notes(asked, R"("a")", {}), 1U);
  EXPECT_EQ(notes(asked, R"("a", "b")", {}), 1U);
  EXPECT_EQ(notes(R"({"sagemaker_distributed_dataparallel_enabled": "false"})", R"("a", "b")", {}), 0U);
  EXPECT_EQ(notes("{}", R"("a", "b")", {}), 0U);
  EXPECT_EQ(notes("{}", R"("a")",
                  {{"SM_FRAMEWORK_PARAMS", R"({"sagemaker_distributed_dataparallel_enabled":true})"}}),
            1U);
}

TEST(Detect, SaysWhatIsMissingOrDoesNotFit) {
  EXPECT_EQ(complaint({{"WORLD_SIZE", "2"}}),
            "WORLD_SIZE=2 is set without RANK: torchrun sets both; start through it, or unset the variable");
  EXPECT_EQ(complaint({{"RANK", "0"}}),
            "RANK=0 is set without WORLD_SIZE: torchrun sets both; start through it, or unset the variable");
  EXPECT_EQ(complaint({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
            "RANK=2 does not fit WORLD_SIZE=2: ranks count from 0 below the world size");
  EXPECT_EQ(complaint({{"RANK", "x"}, {"WORLD_SIZE", "2"}}),
            "RANK=x: it must be a whole number of 0 or more");
  EXPECT_EQ(complaint(with(kTorchrun, {{"MASTER_PORT", "66660"}})),
            "MASTER_PORT=66660: a port is 1 to 65535");
  EXPECT_EQ(complaint(with(kTorchrun, {{"LOCAL_RANK", "4"}})),
            "LOCAL_RANK=4 does not fit 4 processes on this machine");
}

TEST(Detect, CleansTheAddress) {
  EXPECT_EQ(env_of(with(kTorchrun, {{"MASTER_ADDR", " [::1] "}})).master_addr, "::1");
}

// The rows of the table in docs/local_rank.md that speak of --local_rank.
TEST(LocalRankArgument, MinusOneIsOneProcess) {
  EXPECT_FALSE(env_of({}, {"--local_rank", "-1"}).distributed());
  const LaunchEnv one =
      env_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"LOCAL_RANK", "0"}}, {"--local_rank=-1"});
  EXPECT_FALSE(one.distributed());
}

TEST(LocalRankArgument, IsRefusedWhereNothingStartedTheOthers) {
  EXPECT_EQ(complaint({}, {"--local_rank", "0"}),
            "--local_rank 0 means: this is process 0 of several on this machine, but nothing started the "
            "others; for one "
            "process leave the flag out, for N processes type ranktune train --nproc_per_node N ...");
}

TEST(LocalRankArgument, MustAgreeWithTheLauncher) {
  EXPECT_EQ(env_of(kTorchrun, {"--local_rank=1"}).local_rank, 1);
  EXPECT_EQ(complaint(kTorchrun, {"--local_rank=3"}),
            "--local_rank 3 on the command line, local rank 1 from torchrun: leave the flag out, or unset "
            "the launcher's "
            "variables");
  EXPECT_EQ(complaint(kTorchrun, {"--local_rank", "-1"}),
            "--local_rank -1 asks for one process, but torchrun started 8: each would train alone into the "
            "same folder; leave "
            "the flag out, or start without the launcher");
}

TEST(LocalRankArgument, IsOneNumber) {
  EXPECT_EQ(complaint({}, {"--local_rank=1", "--local-rank=2"}),
            "--local_rank is given twice, as 1 and 2: leave one of them out");
  EXPECT_EQ(complaint({}, {"--local_rank"}),
            "--local_rank needs a number: -1, or that of this process on its machine");
  EXPECT_EQ(complaint({}, {"--local_rank", "two"}),
            "--local_rank=two: it must be a whole number of 0 or more");
}

TEST(DetectNode, ReadsThePlatforms) {
  const NodeEnv v2 = detect_node({{"PET_NNODES", "2"},
                                  {"PET_NODE_RANK", "1"},
                                  {"PET_NPROC_PER_NODE", "auto"},
                                  {"PET_MASTER_ADDR", "job-node-0-0.job"},
                                  {"PET_MASTER_PORT", "29500"}},
                                 no_files);
  EXPECT_EQ(v2.platform, "Kubeflow Trainer");
  EXPECT_EQ(v2.node_rank, 1);
  EXPECT_EQ(v2.processes_per_node, "auto");
  const NodeEnv v1 = detect_node({{"RANK", "1"},
                                  {"WORLD_SIZE", "3"},
                                  {"MASTER_ADDR", "m"},
                                  {"MASTER_PORT", "23456"},
                                  {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}},
                                 no_files);
  EXPECT_EQ(v1.platform, "Kubeflow");
  EXPECT_EQ(v1.nodes, 3);
  EXPECT_EQ(v1.master_port, 23456);
  const NodeEnv vertex = detect_node(
      {{"CLUSTER_SPEC",
        R"({"cluster":{"workerpool0":["a:2222"],"workerpool1":["b:2222","c:2222"]},"task":{"type":"workerpool1","index":1}})"}},
      no_files);
  EXPECT_EQ(vertex.node_rank, 2);
  EXPECT_EQ(vertex.nodes, 3);
  EXPECT_EQ(vertex.master_addr, "a");
  const NodeEnv batch = detect_node({{"AWS_BATCH_JOB_NODE_INDEX", "0"},
                                     {"AWS_BATCH_JOB_NUM_NODES", "3"},
                                     {"AWS_BATCH_JOB_MAIN_NODE_INDEX", "2"},
                                     {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS", "10.0.0.9"}},
                                    no_files);
  EXPECT_EQ(batch.node_rank, 2);
  EXPECT_EQ(batch.master_addr, "10.0.0.9");
  EXPECT_EQ(detect_node({{"JOB_COMPLETION_INDEX", "4"}}, no_files).node_rank, 4);
  EXPECT_EQ(detect_node(kSlurm, no_files).master_addr, "n08");
  EXPECT_TRUE(detect_node({}, no_files).platform.empty());
}

/// A machine called `host` with one file.
FileReader machine(const std::string& host, const std::string& path = "", const std::string& content = "") {
  return [=](const std::filesystem::path& wanted) -> std::optional<std::string> {
    if (wanted == "/proc/sys/kernel/hostname") return host + "\n";
    if (wanted == path) return content;
    return std::nullopt;
  };
}

std::string place(const NodeEnv& node) {
  return node.platform + ": " + std::to_string(node.node_rank.value_or(-1)) + " of " +
         std::to_string(node.nodes.value_or(-1)) + ", master " + node.master_addr.value_or("unknown");
}

TEST(DetectNode, ReadsTheHostsOfPbs) {
  const Variables job = {{"PBS_JOBID", "12.server"}, {"PBS_NODEFILE", "/var/nodes"}};
  const std::string list = "n1.cluster\nn1.cluster\nn2.cluster\nn2.cluster\n";
  EXPECT_EQ(place(detect_node(job, machine("n2", "/var/nodes", list))), "PBS: 1 of 2, master n1.cluster");
  EXPECT_EQ(place(detect_node(job, machine("login", "/var/nodes", list))), "PBS: -1 of 2, master n1.cluster");
  // The file lies on the first machine alone.
  EXPECT_EQ(place(detect_node(job, machine("n2"))), "PBS: -1 of -1, master unknown");
  EXPECT_EQ(detect_node(job, machine("n1", "/var/nodes", list)).master_port,
            detect_node(job, machine("n2", "/var/nodes", list)).master_port);
}

TEST(DetectNode, LeavesThePortOfOneMachineFreeAndTellsElementsOfAnArrayApart) {
  const auto port = [](const std::string& hosts, const Variables& more) {
    return detect_node(with({{"LSB_JOBID", "7"}, {"LSB_MCPU_HOSTS", hosts}}, more), machine("a")).master_port;
  };
  EXPECT_EQ(port("a 4", {}), std::nullopt);
  EXPECT_NE(port("a 4 b 4", {{"LSB_JOBINDEX", "1"}}), port("a 4 b 4", {{"LSB_JOBINDEX", "2"}}));
}

TEST(DetectNode, ReadsTheHostsOfLsf) {
  EXPECT_EQ(place(detect_node({{"LSB_JOBID", "7"}, {"LSB_MCPU_HOSTS", "a 4 b 4 c 2"}}, machine("c.site"))),
            "LSF: 2 of 3, master a");
  EXPECT_EQ(place(detect_node({{"LSB_JOBID", "7"}, {"LSB_DJOB_HOSTFILE", "/hosts"}},
                              machine("b", "/hosts", "a\na\nb\nb\n"))),
            "LSF: 1 of 2, master a");
}

TEST(Detect, FindsTheMasterOfJsrunBehindTheBatchMachine) {
  const Variables ranks = {
      {"JSM_NAMESPACE_RANK", "3"},       {"JSM_NAMESPACE_SIZE", "4"}, {"JSM_NAMESPACE_LOCAL_RANK", "1"},
      {"JSM_NAMESPACE_LOCAL_SIZE", "2"}, {"LSB_JOBID", "7"},          {"LSB_DJOB_RANKFILE", "/ranks"}};
  const LaunchEnv env = detect({}, ranks, machine("b", "/ranks", "batch5\na\na\nb\nb\n")).env;
  EXPECT_EQ(numbers(env), "3/4, 1/2, 1/2");
  EXPECT_EQ(env.master_addr, "a");
  EXPECT_THAT(complaint(ranks), HasSubstr("no MASTER_ADDR"));
}

TEST(Detect, RefusesARankOfPmixWithoutTheirNumber) {
  EXPECT_THAT(complaint({{"PMIX_RANK", "1"}}),
              HasSubstr("PMIX_RANK=1: a PMIx launcher started this process"));
  EXPECT_EQ(numbers(env_of({{"PMIX_RANK", "1"}, {"RANKTUNE_LAUNCH", "none"}})), "0/1, -1/1, 0/1");
  EXPECT_THAT(complaint({{"PMIX_RANK", "1"}, {"RANKTUNE_LAUNCH", "mpi"}}), HasSubstr("PMIX_RANK=1"));
  EXPECT_EQ(env_of(with(kTorchrun, {{"PMIX_RANK", "0"}})).rank, 5);
}

TEST(Detect, TellsItsOwnLauncherFromATorchrunInside) {
  const Variables ours = with(
      kTorchrun, {{"TORCHELASTIC_ERROR_FILE", "/a/error.json"}, {"RANKTUNE_ERROR_FILE", "/a/error.json"}});
  EXPECT_EQ(env_of(ours).launcher, "ranktune launch");
  EXPECT_EQ(env_of(with(ours, {{"TORCHELASTIC_ERROR_FILE", "/b/error.json"}})).launcher, "torchrun");
}

}  // namespace
}  // namespace ranktune::launch
