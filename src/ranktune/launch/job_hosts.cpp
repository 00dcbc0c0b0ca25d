#include "ranktune/launch/job_hosts.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace ranktune::launch {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Words each_once(const Words& words) {
  Words once;
  for (const std::string& word : words)
    if (std::find(once.begin(), once.end(), word) == once.end()) once.push_back(word);
  return once;
}

/// The words of the file that a variable names; none where there is no such file on this machine.
Words words_of_file(const VariableReader& variables, const FileReader& files, const std::string& name) {
  const auto path = variables.text(name);
  return words_of(path ? files(*path).value_or("") : "");
}

JobHosts lsf(const VariableReader& variables, const FileReader& files) {
  JobHosts hosts{.platform = "LSF"};
  Words slots;
  if (variables.has("JSM_NAMESPACE_RANK")) {
    hosts.source = "LSB_DJOB_RANKFILE";
    slots = words_of_file(variables, files, hosts.source);
    if (!slots.empty()) slots.erase(slots.begin());
  } else if (const auto counts = variables.text("LSB_MCPU_HOSTS")) {  // "a 4 b 4"
    hosts.source = "LSB_MCPU_HOSTS";
    const Words pairs = words_of(*counts);
    for (std::size_t i = 0; i < pairs.size(); i += 2) slots.push_back(pairs[i]);
  } else {
    hosts.source = "LSB_DJOB_HOSTFILE";
    slots = words_of_file(variables, files, hosts.source);
  }
  hosts.names = each_once(slots);
  return hosts;
}

std::string without_domain(const std::string& host) {
  return host.substr(0, host.find('.'));
}

std::optional<std::int64_t> place_of_this_machine(const Words& names, const FileReader& files) {
  const Words own = words_of(files("/proc/sys/kernel/hostname").value_or(""));
  if (own.empty()) return std::nullopt;
  const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
    return name == own.front() || without_domain(name) == without_domain(own.front());
  });
  return found == names.end() ? std::nullopt : std::optional<std::int64_t>(found - names.begin());
}

}  // namespace

std::optional<JobHosts> job_hosts(const VariableReader& variables, const FileReader& files) {
  JobHosts hosts;
  if (variables.has("LSB_JOBID"))
    hosts = lsf(variables, files);
  else if (variables.has("PBS_JOBID"))
    hosts = {.platform = "PBS",
             .names = each_once(words_of_file(variables, files, "PBS_NODEFILE")),
             .source = "PBS_NODEFILE"};
  else
    return std::nullopt;
  hosts.own = place_of_this_machine(hosts.names, files);
  return hosts;
}

}  // namespace ranktune::launch
