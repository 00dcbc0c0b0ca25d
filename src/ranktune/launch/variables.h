#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/launch/launch_env.h"

namespace ranktune::launch {

/// What ranktune's own launcher sets beside torchrun's variables: TORCHELASTIC_ERROR_FILE once more, which is
/// another for every rank, so that the ranks of a torchrun inside are not taken for its own.
inline constexpr const char* kOwnErrorFile = "RANKTUNE_ERROR_FILE";

/// Reads variables and remembers, for people, what was read.
class VariableReader {
 public:
  explicit VariableReader(const Variables& variables) : variables_(variables) {}

  /// The text of a variable without spaces around it; nothing for one that is absent or empty.
  std::optional<std::string> text(const std::string& name) const;
  /// The same with the spaces.
  std::optional<std::string> raw(const std::string& name) const;
  /// The first of several that is there.
  std::optional<std::string> first_of(const std::vector<std::string>& names) const;
  /// THROWS: UsageError for what is no whole number of 0 or more.
  std::optional<std::int64_t> number(const std::string& name) const;
  bool has(const std::string& name) const { return text(name).has_value(); }

 private:
  const Variables& variables_;
};

/// A whole number of 0 or more. THROWS: UsageError that names `source`.
std::int64_t to_count(const std::string& text, const std::string& source);

/// 1 .. 65535. THROWS: UsageError that names `source`.
std::int64_t to_port(const std::string& text, const std::string& source);

/// A host or an address as sockets want it: no spaces around, no brackets around an IPv6 address.
std::string to_host(std::string text);

/// A port for a job that names none: the same on all its ranks, below the range that systems use for outgoing
/// connections.
std::int64_t port_of_job(const std::string& job);

}  // namespace ranktune::launch
