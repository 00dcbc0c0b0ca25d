#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "ranktune/core/error.h"
#include "ranktune/launch/descriptor.h"
#include "ranktune/launch/system_error.h"

namespace ranktune::launch {

/// Both ends close when another program is loaded. THROWS: Error when the system gives none.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("no pipe can be made: " + system_reason(errno));
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }
  Descriptor read_end;
  Descriptor write_end;
};

}  // namespace ranktune::launch
