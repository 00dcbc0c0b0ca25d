#include "cli/launch_flags.h"

#include <utility>

namespace ranktune::cli {
namespace {

FlagGroup ranks(launch::LaunchOptions& options) {
  return {"Ranks",
          {option("nproc_per_node", "N|auto|gpu|cpu", options.nproc_per_node,
                  "ranks on this machine: a number, one per visible GPU, one per core, or auto: GPUs where "
                  "there are any, else cores")
               .shown_default("1"),
           option("nnodes", "N|auto", options.nnodes, "machines; auto: what the platform's variables say"),
           option("node_rank", "N", options.node_rank,
                  "place of this machine, from 0; needed when there are several"),
           option("master_addr", "HOST", options.master_addr, "the machine with node rank 0")
               .shown_default("127.0.0.1 on one machine"),
           option("master_port", "PORT", options.master_port, "where rank 0 will listen; 0: a free port")
               .shown_default("free on one machine, 29500 on several"),
           boolean_flag("standalone", options.standalone,
                        "one machine and a free port, whatever else is given")}};
}

FlagGroup rendezvous(launch::LaunchOptions& options) {
  return {"Rendezvous",
          {option("rdzv_endpoint", "HOST[:PORT]", options.rdzv_endpoint,
                  "the same as master_addr and master_port in one"),
           option("rdzv_id", "TEXT", options.rdzv_id, "id of the job, the same on all its machines")
               .shown_default("a random one on one machine, none on several"),
           option("rdzv_backend", "static|c10d", options.rdzv_backend,
                  "machines meet by address and node rank in either case")}};
}

FlagGroup failures(launch::LaunchOptions& options) {
  return {"Failures",
          {option("max_restarts", "N", options.max_restarts,
                  "how often all ranks are started again after one has failed"),
           option("shutdown_timeout", "SECONDS", options.shutdown_timeout,
                  "what ranks have to end in before they are killed")
               .shown_default("30 after a signal to the launcher, 4 after a rank has failed"),
           option("stopped_timeout", "SECONDS", options.stopped_timeout,
                  "a stopped rank (SIGSTOP) that does not go on within this time counts as failed")}};
}

FlagGroup output(launch::LaunchOptions& options) {
  return {"Output",
          {option("log_dir", "DIR", options.log_dir, "folder for the ranks' logs and error files"),
           option("redirects", "0..3|RANK:0..3,...", options.redirects,
                  "streams that go to files only: 1 standard output, 2 standard error, 3 both; for all or by "
                  "local rank")
               .also("r")
               .shown_default("0"),
           option("tee", "0..3|RANK:0..3,...", options.tee, "streams that go to files and to the console")
               .also("t")
               .shown_default("3 when only --log_dir is given, else 0"),
           option("local_ranks_filter", "RANK,...", options.local_ranks_filter,
                  "local ranks that appear on the console")
               .shown_default("all"),
           option("role", "NAME", options.role, "ROLE_NAME for the ranks")}};
}

FlagGroup program(launch::LaunchOptions& options) {
  return {
      "Program",
      {boolean_flag("module", options.module, "PROGRAM is a Python module: python3 -u -m PROGRAM").also("m"),
       boolean_flag("no_python", options.no_python,
                    "start a program whose name ends in .py by itself; others always are")}};
}

FlagGroup without_effect() {
  return {"Accepted without effect",
          {ignored_flag("monitor_interval", FlagKind::number, "the end of a rank is seen at once"),
           ignored_flag("start_method", FlagKind::text, "ranks are programs of their own", {"spawn"}),
           ignored_flag("rdzv_conf", FlagKind::text, "machines meet by address and node rank"),
           ignored_flag("local_addr", FlagKind::text, "machines meet by address and node rank"),
           ignored_flag("use_env", FlagKind::boolean, "LOCAL_RANK is always a variable", {"true"}),
           ignored_flag("event_log_handler", FlagKind::text, "there is no log of events", {"null"}),
           ignored_flag("logs_specs", FlagKind::text, "there are no plug-ins", {"default"}),
           ignored_flag("signals_to_handle", FlagKind::text,
                        "SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are passed on",
                        {"SIGTERM,SIGINT,SIGHUP,SIGQUIT"})}};
}

FlagGroup not_available() {
  return {"Not available",
          {refused_flag("run_path", FlagKind::boolean, "start the script itself"),
           refused_flag("virtual_local_rank", FlagKind::boolean, "each rank takes the GPU of its LOCAL_RANK"),
           refused_flag("numa_binding", FlagKind::text, "start the program through numactl"),
           refused_flag("duplicate_stdout_filters", FlagKind::text, "use --tee and grep"),
           refused_flag("duplicate_stderr_filters", FlagKind::text, "use --tee and grep")}};
}

}  // namespace

FlagTable launch_flags(launch::LaunchOptions& options) {
  return FlagTable({ranks(options), failures(options), output(options), program(options), rendezvous(options),
                    without_effect(), not_available()});
}

}  // namespace ranktune::cli
