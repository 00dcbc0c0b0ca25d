// A library that registers a back end for XLA devices, as far as a program can see before it computes there.
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace {

using Guard = c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::XLA>;
C10_REGISTER_GUARD_IMPL(XLA, Guard)

}  // namespace
