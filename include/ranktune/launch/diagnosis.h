#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ranktune/launch/device_plan.h"
#include "ranktune/launch/launch_env.h"
#include "ranktune/launch/network.h"

/// What `ranktune doctor` knows without LibTorch: this process's place among its job's, why, and what is odd.
namespace ranktune::launch {

/// What a diagnosis looks at beside variables and files.
struct Symptoms {
  std::string host = "localhost";
  std::int64_t cores = 1;
  std::string parent = {};  ///< name of the program that started this one
  VisibleGpus gpus = {};
  std::vector<NetworkInterface> interfaces = {};
  std::string address_towards_master = {};  ///< this machine's, when there is a master on another one
  std::string master_port_owner = {};       ///< who has the port that rank 0 is to open; empty: nobody
  bool libtorch_has_cuda = false;
};

struct Diagnosis {
  LaunchEnv env;                           ///< as far as it was found
  DevicePlan plan;                         ///< as far as it was found
  std::string network;                     ///< which address or interface ranks would use, and why
  std::string threads;                     ///< how many a rank computes with, and why
  std::vector<std::string> problems = {};  ///< a line each: what is wrong or odd, and what to do
};

/// Looks at one process. Nothing is thrown: what detect() and plan_device() refuse is the first problem.
Diagnosis diagnose(const std::vector<std::string>& arguments, const Variables& variables,
                   const FileReader& files, const DeviceRequest& request, const Symptoms& symptoms);

/// diagnose() for this process on this machine, with what it looked at.
struct ProcessDiagnosis {
  Symptoms symptoms;
  Diagnosis diagnosis;
};
ProcessDiagnosis diagnose_process(const std::vector<std::string>& arguments, const DeviceRequest& request,
                                  bool libtorch_has_cuda);

/// One sentence on what each number means for this process: rank, local rank, world size, node.
struct Meaning {
  std::string name, value, sentence;
};
std::vector<Meaning> explain(const LaunchEnv& env);

}  // namespace ranktune::launch
