#include "ranktune/core/error.h"

#include <cmath>
#include <utility>

namespace ranktune {

std::string to_string(const SourceLocation& where) {
  std::string text = where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line);
  if (where.line > 0 && where.column > 0) text += ":" + std::to_string(where.column);
  return text;
}

DataError::DataError(SourceLocation where, const std::string& message)
    : Error(to_string(where) + ": " + message), where_(std::move(where)) {}

DistributedError::DistributedError(std::int64_t rank, const std::string& operation, double seconds,
                                   const std::string& message)
    : Error("rank " + std::to_string(rank) + ": " + operation + " failed after " +
            std::to_string(std::llround(seconds)) + " s: " + message),
      rank_(rank),
      operation_(operation),
      seconds_(seconds) {}

}  // namespace ranktune
