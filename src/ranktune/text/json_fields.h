#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "ranktune/core/error.h"

namespace ranktune::text {

/// An object of a JSON file together with its place, so that every complaint names file and key.
class JsonFields {
 public:
  /// `path` is "" for the whole file, else "model" or "added_tokens[3]".
  /// LIFETIME: `object` must outlive this. THROWS: DataError when it is no object.
  JsonFields(const nlohmann::json& object, std::string file, std::string path)
      : object_(object), file_(std::move(file)), path_(std::move(path)) {
    if (!object.is_object()) throw DataError({file_}, name_of(path_) + " must be a JSON object");
  }

  /// The member, or nullptr when it is absent or null.
  const nlohmann::json* find(const std::string& key) const {
    const auto member = object_.find(key);
    return member == object_.end() || member->is_null() ? nullptr : &*member;
  }

  const nlohmann::json& require(const std::string& key) const {
    if (const auto* member = find(key)) return *member;
    fail(key, "is missing");
  }

  JsonFields require_object(const std::string& key) const { return {require(key), file_, path_to(key)}; }

  bool boolean(const std::string& key, bool fallback) const {
    const auto* member = find(key);
    if (member && !member->is_boolean()) fail(key, "must be true or false");
    return member ? member->get<bool>() : fallback;
  }

  std::string string(const std::string& key) const {
    const auto& member = require(key);
    if (!member.is_string()) fail(key, "must be a string");
    return member.get<std::string>();
  }
  std::string string(const std::string& key, std::string fallback) const {
    return find(key) ? string(key) : std::move(fallback);
  }

  /// A token id or a count.
  std::int32_t number(const std::string& key) const { return as_number(require(key), key); }
  std::int32_t number(const std::string& key, std::int32_t fallback) const {
    return find(key) ? number(key) : fallback;
  }

  /// `value` as a number from 0 to 2^31 - 2. `key` is for the message.
  std::int32_t as_number(const nlohmann::json& value, const std::string& key) const {
    constexpr std::uint64_t kHighest = std::numeric_limits<std::int32_t>::max() - 1;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kHighest)
      fail(key, "must be a whole number from 0 to 2147483646");
    return value.get<std::int32_t>();
  }

  [[noreturn]] void fail(const std::string& key, std::string_view what) const {
    throw DataError({file_}, name_of(path_to(key)) + " " + std::string(what));
  }

  std::string path_to(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  const nlohmann::json& object() const noexcept { return object_; }
  const std::string& file() const noexcept { return file_; }

 private:
  static std::string name_of(const std::string& path) { return path.empty() ? "the file" : "'" + path + "'"; }

  const nlohmann::json& object_;
  std::string file_;
  std::string path_;
};

}  // namespace ranktune::text
