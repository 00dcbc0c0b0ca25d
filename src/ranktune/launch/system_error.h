#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace ranktune::launch {

/// "No such file or directory" for ENOENT.
inline std::string system_reason(int code) {
  return std::generic_category().message(code);
}

}  // namespace ranktune::launch
