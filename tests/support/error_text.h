#pragma once

#include <exception>
#include <string>

namespace ranktune::tests {

/// The message of the `Expected` error that `action` throws; other outcomes in angle brackets.
template <typename Expected, typename Action>
std::string error_text(Action action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("<another error: ") + error.what() + ">";
  }
  return "<no error>";
}

}  // namespace ranktune::tests
