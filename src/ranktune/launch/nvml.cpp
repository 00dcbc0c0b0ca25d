#include <dlfcn.h>

#include <memory>

#include "ranktune/launch/device_plan.h"

namespace ranktune::launch {
namespace {

struct Closer {
  void operator()(void* library) const { ::dlclose(library); }
};

template <typename Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

std::int64_t count_installed_gpus() {
  const std::unique_ptr<void, Closer> library(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (!library) return 0;
  auto* start = symbol<int()>(library.get(), "nvmlInit_v2");
  auto* count = symbol<int(unsigned*)>(library.get(), "nvmlDeviceGetCount_v2");
  auto* stop = symbol<int()>(library.get(), "nvmlShutdown");
  if (start == nullptr || count == nullptr || stop == nullptr || start() != 0) return 0;
  unsigned found = 0;
  const bool known = count(&found) == 0;
  stop();
  return known ? static_cast<std::int64_t>(found) : 0;
}

}  // namespace ranktune::launch
