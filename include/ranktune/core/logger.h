#pragma once

#include <string_view>

/// Where the library's messages go. It never prints by itself: whoever calls it hands in a Logger.
namespace ranktune::core {

/// THREAD SAFETY: implementations may be called from one thread only, unless they say otherwise.
class Logger {
 public:
  virtual ~Logger() = default;
  /// What a person who watches the run wants to know. One line, without the line break.
  virtual void info(std::string_view message) = 0;
  /// Something that works but is probably not what was meant.
  virtual void warning(std::string_view message) = 0;
};

/// Drops every message: for tests and for programs that want silence.
class NullLogger final : public Logger {
 public:
  void info(std::string_view) override {}
  void warning(std::string_view) override {}
};

}  // namespace ranktune::core
