#pragma once

#include <signal.h>

#include <vector>

#include "ranktune/launch/descriptor.h"

namespace ranktune::launch {

/// The signals of a launcher as something to poll. They are blocked in this thread while the object lives,
/// and SIGPIPE is ignored. SIGINT, SIGHUP and SIGQUIT that the caller ignores stay ignored: nohup means it.
class SignalSource {
 public:
  SignalSource();
  ~SignalSource();
  SignalSource(const SignalSource&) = delete;
  SignalSource& operator=(const SignalSource&) = delete;

  int descriptor() const noexcept { return descriptor_.get(); }
  /// What has come since the last call; a signal that came several times may be there once.
  std::vector<int> take();
  /// For a child before it executes another program: signals as this process found them.
  void restore() const noexcept;

 private:
  sigset_t before_{};
  struct sigaction pipe_before_ {};
  Descriptor descriptor_;
};

}  // namespace ranktune::launch
