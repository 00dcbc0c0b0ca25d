#pragma once

#include <filesystem>
#include <functional>

namespace ranktune::train {

/// Makes a folder that is complete or absent: `fill` writes into a hidden folder beside it, which then takes
/// its name. A folder of that name that was there before is replaced. THROWS: Error that names the folder and
/// what the system said; what `fill` throws (nothing is left behind then).
void write_whole_folder(const std::filesystem::path& folder,
                        const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace ranktune::train
