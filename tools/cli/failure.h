#pragma once

#include <exception>
#include <string>

#include "ranktune/launch/launch_env.h"

namespace ranktune::cli {

/// Tells why a program failed: one line on standard error, "ranktune train: error: ...", written at once, so
/// that the lines of several ranks do not mix; and the file in which a launcher looks for the reason
/// (TORCHELASTIC_ERROR_FILE, SageMaker's output/failure), where there is one. Under MPICH it also ends the
/// job, which would otherwise wait for the ranks that are left: Hydra looks at exit codes only of programs
/// that speak to it. `program`: "ranktune train".
void report_failure(const std::string& program, const std::exception& error,
                    const launch::Variables& variables);

}  // namespace ranktune::cli
