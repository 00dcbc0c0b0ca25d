#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

/// The errors that ranktune throws. Each message is one line: what is wrong, where, and what to do about it.
/// The library only throws; the programs in tools/ print the message and choose the exit code.
namespace ranktune {

/// Base of all errors that a user can cause or meet. Programs exit with code 1, or 2 for the two below.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A flag or an argument that cannot be meant. Exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A place in a file. Lines and columns count from 1; 0 means "the whole file" (or the whole line).
/// Columns count bytes in a line of text, or cells in a table when the message says so.
struct SourceLocation {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;
};

/// "file", "file:line" or "file:line:column".
std::string to_string(const SourceLocation& where);

/// A file whose content cannot be used. Its message starts with the place. Exit code 2.
class DataError : public Error {
 public:
  DataError(SourceLocation where, const std::string& message);
  const SourceLocation& where() const noexcept { return where_; }

 private:
  SourceLocation where_;
};

/// A model folder or a saved state that cannot be read or written. Exit code 2.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

/// Training cannot go on: a loss or a gradient that is not finite. Exit code 1; what was saved before stays.
class TrainingError : public Error {
 public:
  using Error::Error;
};

/// Ranks that cannot work together: one is missing, was lost, or does not fit the others. Exit code 1.
class DistributedError : public Error {
 public:
  /// `operation`: what was being done, as in "all-reduce". `seconds`: waited for it.
  DistributedError(std::int64_t rank, const std::string& operation, double seconds,
                   const std::string& message);
  std::int64_t rank() const noexcept { return rank_; }  ///< the one that reports it
  const std::string& operation() const noexcept { return operation_; }
  double seconds() const noexcept { return seconds_; }

 private:
  std::int64_t rank_;
  std::string operation_;
  double seconds_;
};

}  // namespace ranktune
