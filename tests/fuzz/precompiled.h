// What most units include: read once for all fuzzers (CMakeLists.txt).
#pragma once

#include <absl/container/btree_map.h>
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "profiler/base/hash_map.h"
#include "profiler/trace/trace.h"
