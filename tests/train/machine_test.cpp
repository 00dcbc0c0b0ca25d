#include "ranktune/train/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ranktune/core/error.h"
#include "support/error_text.h"

namespace ranktune::train {
namespace {

using testing::HasSubstr;
using tests::error_text;

TrainingArguments on_xla(const std::string& library) {
  TrainingArguments training;
  training.device = "xla:0";
  training.device_library = library;
  return training;
}

/// One test: what a library has registered stays registered.
TEST(ChooseDevices, LoadsTheLibraryOfABackEnd) {
  const auto error_of = [](const std::string& library) {
    return error_text<UsageError>([&] { choose_devices(on_xla(library)); });
  };
  EXPECT_THAT(error_of("/nowhere/xla.so"), HasSubstr("cannot load the back end /nowhere/xla.so: "));
  EXPECT_THAT(error_of("/nowhere/xla.so"), HasSubstr("No such file"));
  EXPECT_EQ(error_of("libm.so.6"),
            "libm.so.6 registers no back end for xla devices: it has to be one that was built for this "
            "release of LibTorch");
  const std::vector<at::Device> devices = choose_devices(on_xla(RANKTUNE_FAKE_BACK_END));
  EXPECT_EQ(devices, std::vector<at::Device>{at::Device("xla:0")});
}

}  // namespace
}  // namespace ranktune::train
