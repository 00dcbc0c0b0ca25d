#include "ranktune/launch/signal_source.h"

#include <sys/signalfd.h>

#include "ranktune/core/error.h"
#include "ranktune/launch/system_error.h"

namespace ranktune::launch {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  for (const int signal : {SIGINT, SIGHUP, SIGQUIT})
    if (!is_ignored(signal)) sigaddset(&set, signal);
  return set;
}

}  // namespace

SignalSource::SignalSource() {
  const sigset_t set = watched_signals();
  descriptor_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.open()) throw Error("signals cannot be watched: " + system_reason(errno));
  ::sigprocmask(SIG_BLOCK, &set, &before_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &pipe_before_);
}

SignalSource::~SignalSource() {
  take();  // what came too late must not end the caller
  restore();
}

std::vector<int> SignalSource::take() {
  std::vector<int> signals;
  signalfd_siginfo info{};
  while (::read(descriptor_.get(), &info, sizeof info) == sizeof info)
    signals.push_back(static_cast<int>(info.ssi_signo));
  return signals;
}

void SignalSource::restore() const noexcept {
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace ranktune::launch
