#include "cli/doctor_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/help.h"
#include "cli/parser.h"
#include "cli/values.h"
#include "ranktune/core/error.h"
#include "ranktune/core/utf8.h"

namespace ranktune::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kLabelColumns = 14;

FlagTable doctor_flags(DoctorCommand& command) {
  return FlagTable(
      {{"What to look at",
        {option("world", "N", command.world,
                "start N ranks on this machine and time a barrier and an all-reduce"),
         boolean_flag("json", command.json, "one JSON object instead of text")}},
       {"As for ranktune train",
        {boolean_flag("use_cpu", command.use_cpu, "stay on the CPU even where there is a GPU")
             .also("no_cuda"),
         device_flag(command.place),
         option("local_rank", "N", command.place.local_rank, "what it would mean if it were typed"),
         option("ddp_backend", "gloo|nccl|mpi", command.place.ddp_backend,
                "how ranks talk; default: by the device"),
         option("ddp_timeout", "SECONDS", command.place.ddp_timeout,
                "how long ranks wait for each other")}}});
}

json describe_env(const launch::LaunchEnv& env) {
  json numbers = json::object(), evidence = json::array();
  for (const launch::Evidence& one : env.evidence)
    evidence.push_back({{"what", one.what}, {"value", one.value}, {"source", one.source}});
  for (const launch::Meaning& meaning : launch::explain(env))
    numbers[meaning.name] = {{"value", meaning.value}, {"meaning", meaning.sentence}};
  return {{"launcher", env.launcher},
          {"evidence", evidence},
          {"numbers", numbers},
          {"rank", env.rank},
          {"local_rank", env.local_rank},
          {"world_size", env.world_size},
          {"node_rank", env.node_rank},
          {"nodes", env.nodes},
          {"master_addr", env.master_addr},
          {"master_port", env.master_port},
          {"run_id", env.run_id}};
}

std::string launcher_line(const json& process) {
  const std::string launcher = process.at("launcher");
  if (launcher.empty()) return "none: no variable of a launcher is set";
  std::string sources;
  for (const json& one : process.at("evidence")) {
    const std::string source = one.at("source"), value = one.at("value");
    // A source of several words says itself what was concluded.
    const bool variable = source.find(' ') == std::string::npos;
    sources += (sources.empty() ? "" : ", ") +
               (variable ? source + "=" + value
                         : one.at("what").get<std::string>() + " " + value + " (" + source + ")");
  }
  return launcher + (sources.empty() ? "" : ": " + sources);
}

/// "label         text", the text going on below itself.
std::string line(const std::string& label, const std::string& text) {
  return fmt::format("{:<{}}", label, kLabelColumns) + wrapped(text, kLabelColumns, kLabelColumns);
}

std::string number_lines(const json& process) {
  std::string text;
  for (const char* name : {"rank", "local rank", "world size", "node"}) {
    const json& number = process.at("numbers").at(name);
    text += line(name, fmt::format("{:<7} {}", number.at("value").get<std::string>(),
                                   number.at("meaning").get<std::string>()));
  }
  return text;
}

std::string interface_line(const json& interfaces) {
  std::string text;
  for (const json& one : interfaces) {
    text += (text.empty() ? "" : ", ") + one.at("name").get<std::string>();
    for (const json& address : one.at("addresses")) text += " " + address.get<std::string>();
  }
  return line("interfaces", text.empty() ? "none" : text);
}

std::string libtorch_line(const json& report) {
  if (!report.contains("libtorch")) return line("LibTorch", report.at("libtorch_problem"));
  const json& torch = report.at("libtorch");
  std::string backends;
  for (const json& name : torch.at("backends"))
    backends += (backends.empty() ? "" : ", ") + name.get<std::string>();
  return line(
      "LibTorch",
      fmt::format("{}, {}, back ends {}, CPU kernels {}, {} threads", torch.at("version").get<std::string>(),
                  torch.at("cuda").get<bool>() ? "with CUDA" : "without CUDA", backends,
                  torch.at("cpu").get<std::string>(), torch.at("threads").get<std::int64_t>()));
}

std::string rank_table(const json& ranks) {
  std::size_t host_columns = 4;
  for (const json& rank : ranks)
    host_columns = std::max(host_columns, rank.at("host").get<std::string>().size());
  std::string text = fmt::format("\n{:>4}  {:>10}  {:<{}}  {:>8}  {}\n", "rank", "local rank", "host",
                                 host_columns, "pid", "device");
  for (const json& rank : ranks)
    text +=
        fmt::format("{:>4}  {:>10}  {:<{}}  {:>8}  {}\n", rank.at("rank").get<std::int64_t>(),
                    rank.at("local_rank").get<std::int64_t>(), rank.at("host").get<std::string>(),
                    host_columns, rank.at("pid").get<std::int64_t>(), rank.at("device").get<std::string>());
  return text;
}

std::string timing_lines(const json& timings) {
  std::string text = "\n" + line("barrier", fmt::format("{:.3f} ms", timings.at("barrier_ms").get<double>()));
  for (const json& one : timings.at("all_reduce"))
    text += line("all-reduce", fmt::format("{:g} MiB in {:.3f} ms, {:.2f} GB/s", one.at("mib").get<double>(),
                                           one.at("ms").get<double>(), one.at("gb_per_s").get<double>()));
  return text;
}

std::string problem_lines(const json& problems) {
  if (problems.empty()) return "\nno problems seen\n";
  std::string text =
      problems.size() == 1 ? "\n1 problem:\n" : fmt::format("\n{} problems:\n", problems.size());
  for (const json& problem : problems) text += "* " + wrapped(problem.get<std::string>(), 2, 2);
  return text;
}

}  // namespace

DoctorCommand parse_doctor(std::span<const std::string> words) {
  DoctorCommand command;
  const FlagTable table = doctor_flags(command);
  const ParsedWords parsed = parse_words(words, table);
  command.help = parsed.help;
  if (command.help) return command;
  std::vector<std::string> no_notes;
  for (const Assignment& assignment : parsed.assignments) apply(assignment, no_notes);
  if (!parsed.positionals.empty())
    throw UsageError("unexpected word " + in_quotes(parsed.positionals.front().word) +
                     ": doctor takes flags only");
  if (command.world && (*command.world < 1 || *command.world > 1024))
    throw UsageError("--world " + std::to_string(*command.world) + ": it must be 1 to 1024 ranks");
  if (!(command.place.ddp_timeout > 0)) throw UsageError("--ddp_timeout must be above 0");
  return command;
}

std::string doctor_help() {
  DoctorCommand command;
  return "usage: ranktune doctor [flags]\n\n" +
         wrapped(
             "Says which launcher was seen, what rank, local rank, world size and node mean for this "
             "process, which "
             "device it would take and why, what LibTorch and the network offer, and what is odd. Start it "
             "as the "
             "training would be started: under a launcher it prints one table of all ranks. The exit code is "
             "0 also where something is odd; a script reads the list problems of --json.",
             0, 0) +
         flags_help(doctor_flags(command));
}

std::vector<std::string> libtorch_words(const DoctorCommand& command) {
  std::vector<std::string> words = {"doctor", "--ddp_timeout=" + std::to_string(command.place.ddp_timeout)};
  if (command.use_cpu) words.emplace_back("--use_cpu");
  if (!command.place.device.empty()) words.push_back("--device=" + command.place.device);
  if (!command.place.ddp_backend.empty()) words.push_back("--ddp_backend=" + command.place.ddp_backend);
  return words;
}

json doctor_json(const launch::ProcessDiagnosis& found, const std::string& libtorch,
                 const std::string& libtorch_problem) {
  const launch::Diagnosis& diagnosis = found.diagnosis;
  json interfaces = json::array();
  for (const launch::NetworkInterface& one : found.symptoms.interfaces)
    interfaces.push_back({{"name", one.name}, {"addresses", one.addresses}});
  json report = {{"process", describe_env(diagnosis.env)},
                 {"device",
                  {{"name", diagnosis.plan.device},
                   {"why", diagnosis.plan.why},
                   {"backend", diagnosis.plan.backend},
                   {"installed_gpus", found.symptoms.gpus.installed},
                   {"visible_gpus", found.symptoms.gpus.visible}}},
                 {"host", found.symptoms.host},
                 {"cores", found.symptoms.cores},
                 {"threads", diagnosis.threads},
                 {"network", diagnosis.network},
                 {"interfaces", interfaces},
                 {"problems", diagnosis.problems}};
  const json torch = json::parse(libtorch, nullptr, /*allow_exceptions=*/false);
  if (torch.is_object())
    report.update(torch);
  else
    report["libtorch_problem"] = libtorch_problem;
  return report;
}

std::string doctor_text(const json& report) {
  const json& process = report.at("process");
  std::string text = line("launcher", launcher_line(process)) + number_lines(process);
  if (!process.at("master_addr").get<std::string>().empty())
    text += line("master", fmt::format("{}:{}", process.at("master_addr").get<std::string>(),
                                       process.at("master_port").get<std::int64_t>()));
  text += line("device", fmt::format("{:<7} {}", report.at("device").at("name").get<std::string>(),
                                     report.at("device").at("why").get<std::string>()));
  text += line("threads", report.at("threads")) + line("network", report.at("network"));
  text += interface_line(report.at("interfaces")) + libtorch_line(report);
  if (report.contains("ranks")) text += rank_table(report.at("ranks"));
  if (report.contains("timings")) text += timing_lines(report.at("timings"));
  return text + problem_lines(report.at("problems"));
}

}  // namespace ranktune::cli
