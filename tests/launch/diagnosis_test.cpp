#include "ranktune/launch/diagnosis.h"

#include <gmock/gmock.h>

namespace ranktune::launch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Diagnosis look(const Variables& variables, Symptoms symptoms = {},
               const std::vector<std::string>& words = {}) {
  if (symptoms.cores == 1) symptoms.cores = 8;
  const FileReader no_files = [](const std::filesystem::path&) { return std::nullopt; };
  return diagnose(words, variables, no_files, {}, symptoms);
}

const Variables kSecondOfTwo = {{"RANK", "1"},
                                {"WORLD_SIZE", "2"},
                                {"LOCAL_RANK", "1"},
                                {"LOCAL_WORLD_SIZE", "2"},
                                {"MASTER_ADDR", "127.0.0.1"},
                                {"MASTER_PORT", "4000"},
                                {"TORCHELASTIC_RUN_ID", "job"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(Diagnose, FindsNothingOddInAPlainProcessOrRank) {
  EXPECT_THAT(look({}).problems, IsEmpty());
  EXPECT_THAT(look(kSecondOfTwo).problems, IsEmpty());
  EXPECT_EQ(look(kSecondOfTwo).env.rank, 1);
  EXPECT_THAT(look(kSecondOfTwo).network, HasSubstr("127.0.0.1"));
}

TEST(Diagnose, TellsWhatDetectionRefuses) {
  EXPECT_THAT(look({}, {}, {"--local_rank=1"}).problems, Contains(HasSubstr("nothing started the others")));
  EXPECT_THAT(look({{"RANK", "0"}}).problems, Contains(HasSubstr("is set without WORLD_SIZE")));
}

TEST(Diagnose, SeesALauncherInsideAnother) {
  EXPECT_THAT(look(with(kSecondOfTwo, "OMPI_COMM_WORLD_RANK", "0")).problems,
              Contains(AllOf(HasSubstr("OMPI_COMM_WORLD_RANK=0"), HasSubstr("Open MPI"))));
}

TEST(Diagnose, PlansWithoutGpusThatLibTorchCannotUse) {
  const VisibleGpus two{.installed = 2, .visible = {"0", "1"}, .source = "all that the driver has"};
  const Diagnosis without = look(kSecondOfTwo, {.gpus = two, .libtorch_has_cuda = false});
  EXPECT_EQ(without.plan.device, "cpu");
  EXPECT_THAT(without.problems,
              Contains(HasSubstr("2 GPUs are visible, but ranktune was built with a LibTorch for CPUs")));
  EXPECT_EQ(look(kSecondOfTwo, {.gpus = two, .libtorch_has_cuda = true}).plan.device, "cuda:1");
}

TEST(Diagnose, DoesNotDivideCoresThatARankHasForItself) {
  const Variables bound = {{"OMPI_COMM_WORLD_RANK", "0"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                           {"OMPI_MCA_orte_bound_at_launch", "1"}};
  const Diagnosis diagnosis = look(bound, {.cores = 3});
  EXPECT_THAT(diagnosis.problems, IsEmpty());
  EXPECT_THAT(diagnosis.threads, HasSubstr("3 for each rank: 3 cores of its own"));
  EXPECT_THAT(look(with(bound, "OMPI_MCA_orte_bound_at_launch", "0"), {.cores = 3}).problems,
              Contains(HasSubstr("4 ranks on 3 cores")));
}

TEST(Diagnose, NoticesAStarterThatLeftNoNumbers) {
  EXPECT_THAT(look({}, {.parent = "srun"}).problems, Contains(HasSubstr("started by srun")));
  EXPECT_THAT(look({}, {.parent = "bash"}).problems, IsEmpty());
}

TEST(Diagnose, LooksAtGpusInterfacesMasterAndThreads) {
  EXPECT_THAT(
      look({{"CUDA_VISIBLE_DEVICES", ""}}, {.gpus = {.installed = 2, .source = "CUDA_VISIBLE_DEVICES="}})
          .problems,
      Contains(HasSubstr("shows none of them")));
  EXPECT_THAT(look({{"GLOO_SOCKET_IFNAME", "ib7"}},
                   {.interfaces = {{"lo", {"127.0.0.1"}, true}, {"eth0", {"10.0.0.1"}, false}}})
                  .problems,
              Contains(HasSubstr("this machine has lo, eth0")));
  EXPECT_THAT(look(with(with(kSecondOfTwo, "WORLD_SIZE", "4"), "GROUP_WORLD_SIZE", "2")).problems,
              Contains(HasSubstr("is each machine's own")));
  EXPECT_THAT(look(with(kSecondOfTwo, "OMP_NUM_THREADS", "8")).problems, Contains(HasSubstr("set 4")));
  EXPECT_THAT(look({{"OMP_NUM_THREADS", "1"}}).problems, Contains(HasSubstr("set 8")));
  EXPECT_THAT(look(with(kSecondOfTwo, "MASTER_ADDR", " 127.0.0.1")).problems, Contains(HasSubstr("blanks")));
  EXPECT_THAT(look(kSecondOfTwo, {.master_port_owner = "pid 7 (nc)"}).problems,
              Contains(HasSubstr("pid 7 (nc)")));
}

TEST(Explain, GivesEachNumberASentence) {
  const auto alone = explain({});
  ASSERT_EQ(alone.size(), 4U);
  EXPECT_EQ(alone[1].value, "-1");
  EXPECT_THAT(explain(look(kSecondOfTwo).env)[1].sentence, HasSubstr("process 1 of the 2 on this machine"));
}

}  // namespace
}  // namespace ranktune::launch
