#pragma once

#include <exception>
#include <string>

namespace ranktune::dist {

/// The first sentence of what LibTorch says in several lines, with places in its source and a backtrace.
inline std::string first_line(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (text.starts_with('[')) {  // "[../gloo/transport/tcp/pair.cc:547] Connection closed by peer"
    const std::size_t end = text.find("] ");
    if (end != std::string::npos) text = text.substr(end + 2);
  }
  text = text.substr(0, text.find(". "));
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace ranktune::dist
