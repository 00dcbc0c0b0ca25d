#include <nlohmann/json.hpp>
#include <utility>

#include "ranktune/core/error.h"
#include "ranktune/launch/host_list.h"
#include "ranktune/launch/job_hosts.h"
#include "ranktune/launch/launch_env.h"
#include "ranktune/launch/sagemaker.h"
#include "ranktune/launch/variables.h"

namespace ranktune::launch {
namespace {

/// Fills in what a platform says of a machine, with the names of the variables.
class NodeBuilder {
 public:
  NodeBuilder(std::string platform, const VariableReader& variables) : variables_(variables) {
    node_.platform = std::move(platform);
  }
  NodeBuilder& rank(const std::string& name) {
    node_.node_rank = read(name, "node rank");
    return *this;
  }
  NodeBuilder& count(const std::string& name) {
    node_.nodes = read(name, "machines");
    return *this;
  }
  NodeBuilder& processes(const std::string& name) {
    node_.processes_per_node = variables_.text(name);
    if (node_.processes_per_node)
      node_.evidence.push_back({"processes per machine", *node_.processes_per_node, name});
    return *this;
  }
  NodeBuilder& master(const std::string& address, const std::string& port) {
    if (const auto text = variables_.text(address)) {
      node_.master_addr = to_host(*text);
      node_.evidence.push_back({"master address", *node_.master_addr, address});
    }
    if (const auto text = variables_.text(port)) {
      node_.master_port = to_port(*text, port);
      node_.evidence.push_back({"master port", *text, port});
    }
    return *this;
  }
  NodeEnv& node() { return node_; }

 private:
  std::optional<std::int64_t> read(const std::string& name, const std::string& what) {
    const auto value = variables_.number(name);
    if (value) node_.evidence.push_back({what, std::to_string(*value), name});
    return value;
  }

  const VariableReader& variables_;
  NodeEnv node_;
};

/// Vertex AI: pool 0 is the first machine, pool 1 the others.
NodeEnv vertex(const std::string& spec) {
  NodeEnv node{.platform = "Vertex AI"};
  try {
    const nlohmann::json json = nlohmann::json::parse(spec);
    const nlohmann::json& cluster = json.at("cluster");
    const auto first = cluster.at("workerpool0").get<std::vector<std::string>>();
    const auto others = cluster.value("workerpool1", std::vector<std::string>{});
    const auto pool = json.at("task").at("type").get<std::string>();
    const auto index = json.at("task").at("index").get<std::int64_t>();
    if (pool != "workerpool0" && pool != "workerpool1")
      throw UsageError("CLUSTER_SPEC: this machine is in " + pool + "; workerpool0 and workerpool1 train");
    node.node_rank = pool == "workerpool0" ? 0 : 1 + index;
    node.nodes = 1 + std::ssize(others);
    node.master_addr = first.at(0).substr(0, first.at(0).find(':'));
    node.master_port = 3333;  // the platform keeps the port of the spec for itself
  } catch (const nlohmann::json::exception&) {
    throw UsageError("CLUSTER_SPEC is not what Vertex AI sets: unset it, or give --nnodes and --node-rank");
  }
  node.evidence.push_back({"machines", std::to_string(*node.nodes), "CLUSTER_SPEC"});
  return node;
}

NodeEnv aws_batch(const VariableReader& variables) {
  NodeEnv node = NodeBuilder("AWS Batch", variables)
                     .rank("AWS_BATCH_JOB_NODE_INDEX")
                     .count("AWS_BATCH_JOB_NUM_NODES")
                     .master("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS", "MASTER_PORT")
                     .node();
  const std::int64_t main = variables.number("AWS_BATCH_JOB_MAIN_NODE_INDEX").value_or(0);
  if (main == 0 || !node.node_rank) return node;
  // The master is rank 0: the main machine takes the number of machine 0 and the other way round.
  if (*node.node_rank == main)
    node.node_rank = 0;
  else if (*node.node_rank == 0)
    node.node_rank = main;
  return node;
}

NodeEnv slurm(const VariableReader& variables) {
  NodeEnv node = NodeBuilder("Slurm", variables).rank("SLURM_NODEID").count("SLURM_STEP_NUM_NODES").node();
  node.processes_per_node = variables.text("SLURM_GPUS_ON_NODE");
  const auto hosts = variables.first_of({"SLURM_STEP_NODELIST", "SLURM_NODELIST"});
  if (hosts) node.master_addr = expand_host_list(*hosts).front();
  node.master_port = port_of_job(variables.text("SLURM_JOB_ID").value_or("") + "." +
                                 variables.first_of({"SLURM_STEP_ID", "SLURM_STEPID"}).value_or(""));
  return node;
}

/// LSF and PBS. PBS's list lies on the first machine of a job alone.
NodeEnv batch_system(const JobHosts& hosts, const VariableReader& variables) {
  NodeEnv node{.platform = hosts.platform};
  if (hosts.names.empty()) return node;
  node.node_rank = hosts.own;
  node.nodes = std::ssize(hosts.names);
  node.evidence.push_back({"machines", std::to_string(*node.nodes), hosts.source});
  if (node.nodes == 1) return node;
  node.master_addr = hosts.names.front();
  // The elements of an array of jobs share LSF's number.
  node.master_port = port_of_job(*variables.first_of({"LSB_JOBID", "PBS_JOBID"}) + "." +
                                 variables.text("LSB_JOBINDEX").value_or(""));
  return node;
}

}  // namespace

NodeEnv detect_node(const Variables& all, const FileReader& files) {
  const VariableReader variables(all);
  if (variables.has("PET_NNODES"))
    return NodeBuilder("Kubeflow Trainer", variables)
        .rank("PET_NODE_RANK")
        .count("PET_NNODES")
        .processes("PET_NPROC_PER_NODE")
        .master("PET_MASTER_ADDR", "PET_MASTER_PORT")
        .node();
  if (variables.has("CLUSTER_SPEC")) return vertex(*variables.text("CLUSTER_SPEC"));
  if (const auto hosts = sagemaker_hosts(variables, files)) {
    NodeEnv node{.platform = "SageMaker", .node_rank = hosts->own, .nodes = std::ssize(hosts->names)};
    node.processes_per_node = variables.text("SM_NUM_GPUS");
    node.master_addr = hosts->names.front();
    node.master_port = 7777;
    node.evidence.push_back({"machines", std::to_string(*node.nodes), hosts->source});
    return node;
  }
  if (variables.has("AWS_BATCH_JOB_NUM_NODES")) return aws_batch(variables);
  if (variables.has("RANK") && variables.has("WORLD_SIZE") && !variables.has("LOCAL_RANK"))
    return NodeBuilder(
               variables.has("KUBERNETES_SERVICE_HOST") ? "Kubeflow" : "RANK and WORLD_SIZE of machines",
               variables)
        .rank("RANK")
        .count("WORLD_SIZE")
        .processes(variables.has("PET_NPROC_PER_NODE") ? "PET_NPROC_PER_NODE" : "NPROC_PER_NODE")
        .master("MASTER_ADDR", "MASTER_PORT")
        .node();
  if (variables.has("SLURM_STEP_ID") && variables.has("SLURM_NODEID")) return slurm(variables);
  if (const auto hosts = job_hosts(variables, files)) return batch_system(*hosts, variables);
  if (variables.has("JOB_COMPLETION_INDEX"))
    return NodeBuilder("Kubernetes Indexed Job", variables)
        .rank("JOB_COMPLETION_INDEX")
        .master("MASTER_ADDR", "MASTER_PORT")
        .node();
  return {};
}

}  // namespace ranktune::launch
