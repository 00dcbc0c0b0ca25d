#include "ranktune/core/error.h"

namespace ranktune {

std::string to_string(const SourceLocation& where) {
  std::string text = where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line);
  if (where.line > 0 && where.column > 0) text += ":" + std::to_string(where.column);
  return text;
}

DataError::DataError(SourceLocation where, const std::string& message)
    : Error(to_string(where) + ": " + message), where_(std::move(where)) {}

}  // namespace ranktune
