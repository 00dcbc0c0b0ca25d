#include "ranktune/train/machine.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/system_environment.h"
#include "ranktune/models/data_parallel_classifier.h"
#include "ranktune/models/threaded_classifier.h"

namespace ranktune::train {

std::int64_t use_threads(std::int64_t num_threads) {
  // LibTorch counts the cores of the whole machine; threads that wait for their share are slower than fewer.
  if (num_threads == 0)
    num_threads = std::min<std::int64_t>(at::get_num_threads(), launch::cores_of_container());
  at::set_num_threads(static_cast<int>(num_threads));
  return num_threads;
}

void load_back_end(const std::string& library, at::DeviceType type) {
  // It stays loaded: LibTorch keeps what it has registered.
  if (::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw UsageError("cannot load the back end " + library + ": " + ::dlerror());
  if (!c10::impl::hasDeviceGuardImpl(type))
    throw UsageError(library + " registers no back end for " +
                     c10::DeviceTypeName(type, /*lower_case=*/true) +
                     " devices: it has to be one that was built for this release of LibTorch");
}

at::Device choose_device(const std::string& name, bool use_cpu) {
  if (!name.empty()) return at::Device(name);
  return !use_cpu && at::globalContext().hasCUDA() ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

std::vector<at::Device> choose_devices(const TrainingArguments& training) {
  if (!training.device_library.empty())
    load_back_end(training.device_library, at::Device(training.device).type());
  if (training.data_parallel_devices.empty()) return {choose_device(training.device, training.use_cpu)};
  return {training.data_parallel_devices.begin(), training.data_parallel_devices.end()};
}

std::unique_ptr<models::SequenceClassifier> on_devices(std::unique_ptr<models::SequenceClassifier> model,
                                                       const std::vector<at::Device>& devices,
                                                       std::int64_t threads) {
  if (!devices.front().is_cpu()) model = models::replicate(*model, devices.front());
  if (devices.size() > 1) return std::make_unique<models::DataParallelClassifier>(std::move(model), devices);
  if (!devices.front().is_cpu() || threads == 1) return model;
  return std::make_unique<models::ThreadedClassifier>(std::move(model), threads);
}

double seconds_since_process_start() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');  // the program's name may hold anything
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field)
    fields >> skipped;  // proc(5): field 22 is the start, in ticks since boot
  double start_ticks = 0;
  timespec now{};
  if (!(fields >> start_ticks) || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  return seconds - start_ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace ranktune::train
