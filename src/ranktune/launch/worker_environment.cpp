#include <string>

#include "ranktune/launch/launcher.h"
#include "ranktune/launch/variables.h"

namespace ranktune::launch {

Variables worker_environment(const LaunchPlan& plan, const WorkerStart& start, const Variables& variables) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  const std::string rank = text(plan.rank(start.local_rank)), world = text(plan.world_size());
  Variables all = variables;
  const Variables own = {
      {"RANK", rank},
      {"WORLD_SIZE", world},
      {"LOCAL_RANK", text(start.local_rank)},
      {"LOCAL_WORLD_SIZE", text(plan.local_world_size)},
      {"GROUP_RANK", text(plan.node_rank)},
      {"GROUP_WORLD_SIZE", text(plan.nodes)},
      {"ROLE_RANK", rank},
      {"ROLE_WORLD_SIZE", world},
      {"ROLE_NAME", plan.role},
      {"MASTER_ADDR", plan.master_addr},
      {"MASTER_PORT", text(start.master_port)},
      {"TORCHELASTIC_RESTART_COUNT", text(start.restart_count)},
      {"TORCHELASTIC_MAX_RESTARTS", text(plan.max_restarts)},
      {"TORCHELASTIC_RUN_ID", plan.run_id},
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},  // rank 0 opens the store, on the port that is held for it
      {"TORCHELASTIC_ERROR_FILE", start.error_file},
      {kOwnErrorFile, start.error_file}};
  for (const auto& [name, value] : own) all.insert_or_assign(name, value);
  // The user's choice counts, and empty is none.
  for (const auto& [name, value] : Variables{{"OMP_NUM_THREADS", text(plan.threads_per_worker)},
                                             {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"}})
    if (all[name].empty()) all[name] = value;
  all.erase("RANKTUNE_PORT_HELD");  // that of a launcher around this one speaks of another port
  if (start.port_is_held) all["RANKTUNE_PORT_HELD"] = "1";
  return all;
}

}  // namespace ranktune::launch
