#pragma once

/// The one place where the version is written; CMake reads it from here.
#define RANKTUNE_VERSION "0.1.0"
