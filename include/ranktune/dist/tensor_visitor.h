#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace ranktune::dist {

/// Something with a member `for_each_tensor(visit)` that calls visit(tensor) for each of its tensors, by
/// reference.
template <typename Value, typename Visit>
concept HasTensors = requires(Value& value, Visit& visit) {
  value.for_each_tensor(visit);
};

template <typename Visit>
void visit_tensors(at::Tensor& tensor, Visit& visit) {
  visit(tensor);
}

template <typename Value, typename Visit>
requires HasTensors<Value, Visit>
void visit_tensors(Value& value, Visit& visit) {
  value.for_each_tensor(visit);
}

// All of them first, so that each may hold any other.
template <typename Item, typename Visit>
void visit_tensors(std::vector<Item>& items, Visit& visit);
template <typename Item, std::size_t N, typename Visit>
void visit_tensors(std::array<Item, N>& items, Visit& visit);
template <typename Item, typename Visit>
void visit_tensors(std::optional<Item>& item, Visit& visit);
template <typename Key, typename Item, typename Visit>
void visit_tensors(std::map<Key, Item>& items, Visit& visit);
template <typename First, typename Second, typename Visit>
void visit_tensors(std::pair<First, Second>& pair, Visit& visit);
template <typename... Items, typename Visit>
void visit_tensors(std::tuple<Items...>& items, Visit& visit);

template <typename Item, typename Visit>
void visit_tensors(std::vector<Item>& items, Visit& visit) {
  for (Item& item : items) visit_tensors(item, visit);
}
template <typename Item, std::size_t N, typename Visit>
void visit_tensors(std::array<Item, N>& items, Visit& visit) {
  for (Item& item : items) visit_tensors(item, visit);
}
template <typename Item, typename Visit>
void visit_tensors(std::optional<Item>& item, Visit& visit) {
  if (item) visit_tensors(*item, visit);
}
template <typename Key, typename Item, typename Visit>
void visit_tensors(std::map<Key, Item>& items, Visit& visit) {
  for (auto& [key, item] : items) visit_tensors(item, visit);
}
template <typename First, typename Second, typename Visit>
void visit_tensors(std::pair<First, Second>& pair, Visit& visit) {
  visit_tensors(pair.first, visit);
  visit_tensors(pair.second, visit);
}
template <typename... Items, typename Visit>
void visit_tensors(std::tuple<Items...>& items, Visit& visit) {
  std::apply([&](Items&... each) { (visit_tensors(each, visit), ...); }, items);
}

/// The same for arguments of any kind: a value of a type without tensors is left as it is.
template <typename Value, typename Visit>
void visit_any_tensors(Value& value, Visit& visit) {
  if constexpr (requires { visit_tensors(value, visit); }) visit_tensors(value, visit);
}

}  // namespace ranktune::dist
