// Implements nvidia-smi for planned programs: the table, -L, and the lines of --query-gpu. It
// queries the emulated GPUs through the emulated NVML. Unknown values are [N/A], as in nvidia-smi.
// Fields and options that are not implemented are errors.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "nvml/structs.h"

using vramscope::nvml::Memory, vramscope::nvml::Process, vramscope::nvml::PciInformation;

extern "C" {
int nvmlInit_v2();
int nvmlSystemGetDriverVersion(char* text, unsigned length);
int nvmlSystemGetCudaDriverVersion_v2(int* version);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle);
int nvmlDeviceGetName(void* handle, char* text, unsigned length);
int nvmlDeviceGetUUID(void* handle, char* text, unsigned length);
int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory);
int nvmlDeviceGetPciInfo_v3(void* handle, PciInformation* information);
int nvmlDeviceGetCudaComputeCapability(void* handle, int* major, int* minor);
int nvmlDeviceGetMaxClockInfo(void* handle, int type, unsigned* mhz);
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned* count, Process* processes);
}

namespace {

constexpr unsigned long long kMiB = 1 << 20;

struct Gpu {
  unsigned index = 0;
  void* handle = nullptr;
  std::string name, uuid, bus;
  Memory memory = {};
  bool has_memory = true;  // false: it shares the host's memory
  std::vector<Process> processes;
};

std::string Text(int (*ask)(void*, char*, unsigned), void* handle) {
  char text[96] = "";
  return ask(handle, text, sizeof text) == 0 ? text : "[N/A]";
}

std::vector<Gpu> Gpus() {
  std::vector<Gpu> gpus;
  unsigned count = 0;
  nvmlDeviceGetCount_v2(&count);
  for (unsigned i = 0; i < count; ++i) {
    Gpu gpu{.index = i};
    if (nvmlDeviceGetHandleByIndex_v2(i, &gpu.handle) != 0) continue;
    gpu.name = Text(&nvmlDeviceGetName, gpu.handle);
    gpu.uuid = Text(&nvmlDeviceGetUUID, gpu.handle);
    PciInformation pci = {};
    if (nvmlDeviceGetPciInfo_v3(gpu.handle, &pci) == 0) gpu.bus = pci.bus_id;
    gpu.has_memory = nvmlDeviceGetMemoryInfo(gpu.handle, &gpu.memory) == 0;
    unsigned room = 1024;
    gpu.processes.resize(room);
    const bool known =
        nvmlDeviceGetComputeRunningProcesses_v3(gpu.handle, &room, gpu.processes.data()) == 0;
    gpu.processes.resize(known ? room : 0);
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::string Driver() {
  char text[96] = "";
  nvmlSystemGetDriverVersion(text, sizeof text);
  return text;
}

std::string Now(const char* format) {
  char text[64] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, format, std::localtime(&now));
  return text;
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(part.size() == text.size() ? text.size() : part.size() + 1);
    const size_t begin = part.find_first_not_of(' ');
    if (begin != part.npos)
      parts.emplace_back(part.substr(begin, part.find_last_not_of(' ') + 1 - begin));
  }
  return parts;
}

struct Field {
  std::string_view name, unit;
  std::string (*value)(const Gpu&);
};
std::string NotKnown(const Gpu&) { return "[N/A]"; }
std::string MiB(unsigned long long bytes) { return std::to_string(bytes / kMiB); }
std::string Capability(const Gpu& gpu) {
  int major = 0, minor = 0;
  nvmlDeviceGetCudaComputeCapability(gpu.handle, &major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}
std::string Clock(const Gpu& gpu, int type) {
  unsigned mhz = 0;
  nvmlDeviceGetMaxClockInfo(gpu.handle, type, &mhz);
  return std::to_string(mhz);
}

// Formats `bytes` of the GPU's memory, or returns "[N/A]" if the GPU has no memory of its own.
std::string Own(const Gpu& gpu, unsigned long long bytes) {
  return gpu.has_memory ? MiB(bytes) : "[N/A]";
}

constexpr Field kFields[] = {
    {"timestamp", "", [](const Gpu&) { return Now("%Y/%m/%d %H:%M:%S.000"); }},
    {"driver_version", "", [](const Gpu&) { return Driver(); }},
    {"count", "", [](const Gpu&) { return std::to_string(Gpus().size()); }},
    {"name", "", [](const Gpu& gpu) { return gpu.name; }},
    {"gpu_name", "", [](const Gpu& gpu) { return gpu.name; }},
    {"index", "", [](const Gpu& gpu) { return std::to_string(gpu.index); }},
    {"uuid", "", [](const Gpu& gpu) { return gpu.uuid; }},
    {"gpu_uuid", "", [](const Gpu& gpu) { return gpu.uuid; }},
    {"pci.bus_id", "", [](const Gpu& gpu) { return gpu.bus; }},
    {"gpu_bus_id", "", [](const Gpu& gpu) { return gpu.bus; }},
    {"compute_cap", "", &Capability},
    {"memory.total", "MiB", [](const Gpu& gpu) { return Own(gpu, gpu.memory.total); }},
    {"memory.used", "MiB", [](const Gpu& gpu) { return Own(gpu, gpu.memory.used); }},
    {"memory.free", "MiB", [](const Gpu& gpu) { return Own(gpu, gpu.memory.free); }},
    {"memory.reserved", "MiB", [](const Gpu&) { return std::string("0"); }},
    {"utilization.gpu", "%", [](const Gpu&) { return std::string("0"); }},
    {"utilization.memory", "%", [](const Gpu&) { return std::string("0"); }},
    {"temperature.gpu", "", [](const Gpu&) { return std::string("40"); }},
    {"pstate", "", [](const Gpu&) { return std::string("P0"); }},
    {"compute_mode", "", [](const Gpu&) { return std::string("Default"); }},
    {"persistence_mode", "", [](const Gpu&) { return std::string("Enabled"); }},
    {"display_active", "", [](const Gpu&) { return std::string("Disabled"); }},
    {"display_mode", "", [](const Gpu&) { return std::string("Disabled"); }},
    {"clocks.max.sm", "MHz", [](const Gpu& gpu) { return Clock(gpu, 1); }},
    {"clocks.max.graphics", "MHz", [](const Gpu& gpu) { return Clock(gpu, 0); }},
    {"clocks.max.memory", "MHz", [](const Gpu& gpu) { return Clock(gpu, 2); }},
    {"clocks.sm", "MHz", [](const Gpu& gpu) { return Clock(gpu, 1); }},
    {"clocks.current.sm", "MHz", [](const Gpu& gpu) { return Clock(gpu, 1); }},
    {"clocks.mem", "MHz", [](const Gpu& gpu) { return Clock(gpu, 2); }},
    {"serial", "", &NotKnown},
    {"gpu_serial", "", &NotKnown},
    {"vbios_version", "", &NotKnown},
    {"fan.speed", "", &NotKnown},
    {"power.draw", "", &NotKnown},
    {"power.limit", "", &NotKnown},
    {"power.max_limit", "", &NotKnown},
    {"ecc.mode.current", "", &NotKnown},
    {"mig.mode.current", "", &NotKnown},
};

struct Format {
  bool header = true, units = true;
};

std::string WithUnit(const std::string& value, std::string_view unit, const Format& format) {
  return unit.empty() || !format.units || value == "[N/A]" ? value
                                                           : value + " " + std::string(unit);
}

int QueryGpus(const std::vector<Gpu>& gpus, const std::string& names, const Format& format) {
  std::vector<const Field*> fields;
  for (const std::string& name : Split(names)) {
    const Field* found = nullptr;
    for (const Field& field : kFields)
      if (field.name == name) found = &field;
    if (found == nullptr) {
      std::printf("Field \"%s\" is not a valid field to query.\n\n", name.c_str());
      return 2;
    }
    fields.push_back(found);
  }
  const auto print = [&](auto&& text_of) {
    for (size_t i = 0; i < fields.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : ", ", text_of(*fields[i]).c_str());
    std::puts("");
  };
  if (format.header)
    print([&](const Field& field) {
      const std::string name(field.name);
      return field.unit.empty() || !format.units ? name
                                                 : name + " [" + std::string(field.unit) + "]";
    });
  for (const Gpu& gpu : gpus)
    print([&](const Field& field) { return WithUnit(field.value(gpu), field.unit, format); });
  return 0;
}

std::string NameOf(unsigned process) {
  char path[64], target[4096];
  std::snprintf(path, sizeof path, "/proc/%u/exe", process);
  const ssize_t bytes = readlink(path, target, sizeof target);
  return bytes > 0 ? std::string(target, static_cast<size_t>(bytes)) : "[Not Found]";
}

int QueryProcesses(const std::vector<Gpu>& gpus, const std::string& names, const Format& format) {
  const std::vector<std::string> fields = Split(names);
  const auto value = [](const Gpu& gpu, const Process& process, const std::string& field) {
    return field == "pid"                                         ? std::to_string(process.pid)
           : field == "process_name" || field == "name"           ? NameOf(process.pid)
           : field == "used_memory" || field == "used_gpu_memory" ? MiB(process.used)
           : field == "gpu_uuid"                                  ? gpu.uuid
           : field == "gpu_name"                                  ? gpu.name
           : field == "gpu_bus_id"                                ? gpu.bus
           : field == "timestamp"                                 ? Now("%Y/%m/%d %H:%M:%S.000")
                                                                  : std::string();
  };
  const auto unit = [](const std::string& field) {
    return field == "used_memory" || field == "used_gpu_memory" ? std::string_view("MiB") : "";
  };
  for (const std::string& field : fields) {
    if (value(Gpu{}, Process{}, field).empty() && field != "gpu_uuid" && field != "gpu_name" &&
        field != "gpu_bus_id") {
      std::printf("Field \"%s\" is not a valid field to query.\n\n", field.c_str());
      return 2;
    }
  }
  const auto print = [&](auto&& text_of) {
    for (size_t i = 0; i < fields.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : ", ", text_of(fields[i]).c_str());
    std::puts("");
  };
  if (format.header)
    print([&](const std::string& field) {
      return unit(field).empty() || !format.units ? field
                                                  : field + " [" + std::string(unit(field)) + "]";
    });
  for (const Gpu& gpu : gpus)
    for (const Process& process : gpu.processes)
      print([&](const std::string& field) {
        return WithUnit(value(gpu, process, field), unit(field), format);
      });
  return 0;
}

int List(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus)
    std::printf("GPU %u: %s (UUID: %s)\n", gpu.index, gpu.name.c_str(), gpu.uuid.c_str());
  return 0;
}

// Pads or cuts the text to `width` characters.
std::string Fit(std::string text, size_t width) {
  text.resize(width, ' ');
  return text;
}

int Table(const std::vector<Gpu>& gpus) {
  int version = 0;
  nvmlSystemGetCudaDriverVersion_v2(&version);
  const std::string driver = Driver();
  const std::string cuda =
      std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  const char* line =
      "+-----------------------------------------+------------------------+------------"
      "----------+";
  std::printf("%s\n", Now("%a %b %e %H:%M:%S %Y").c_str());
  std::puts(
      "+-----------------------------------------------------------------------------------------"
      "+");
  std::printf("| NVIDIA-SMI %s Driver Version: %s CUDA Version: %s |\n", Fit(driver, 22).c_str(),
              Fit(driver, 14).c_str(), Fit(cuda, 8).c_str());
  std::puts(line);
  std::puts(
      "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC "
      "|");
  std::puts(
      "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. "
      "|");
  std::puts(
      "|=========================================+========================+======================"
      "|");
  for (const Gpu& gpu : gpus) {
    char memory[64];
    if (gpu.has_memory) {
      std::snprintf(memory, sizeof memory, "%7lluMiB / %6lluMiB", gpu.memory.used / kMiB,
                    gpu.memory.total / kMiB);
    } else {
      std::snprintf(memory, sizeof memory, "         Not Supported");
    }
    std::printf("| %3u  %s On  | %s Off | %s |\n", gpu.index, Fit(gpu.name, 30).c_str(),
                Fit(gpu.bus, 18).c_str(), Fit("                 N/A", 20).c_str());
    std::printf("| N/A   40C    P0             N/A /  N/A  | %s | %s |\n", Fit(memory, 22).c_str(),
                Fit("     0%      Default", 20).c_str());
    std::puts(line);
  }
  std::puts(
      "\n+-----------------------------------------------------------------------------------"
      "------+");
  std::puts(
      "| Processes:                                                                              "
      "|");
  std::puts(
      "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory "
      "|");
  std::puts(
      "|        ID   ID                                                               Usage      "
      "|");
  std::puts(
      "|========================================================================================="
      "|");
  bool any = false;
  for (const Gpu& gpu : gpus) {
    for (const Process& process : gpu.processes) {
      any = true;
      std::printf("| %4u   N/A  N/A %17u      C   %s %8lluMiB |\n", gpu.index, process.pid,
                  Fit(NameOf(process.pid), 32).c_str(), process.used / kMiB);
    }
  }
  if (!any)
    std::puts(
        "|  No running processes found                                                           "
        "  |");
  std::puts(
      "+-----------------------------------------------------------------------------------------"
      "+");
  return 0;
}

// Returns the GPUs that --id selects: indexes such as 0,1, a UUID or a bus id.
std::vector<Gpu> Chosen(const std::vector<Gpu>& gpus, const std::string& which) {
  std::vector<Gpu> chosen;
  for (const std::string& id : Split(which))
    for (const Gpu& gpu : gpus)
      if (id == std::to_string(gpu.index) || id == gpu.uuid || id == gpu.bus) chosen.push_back(gpu);
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  nvmlInit_v2();
  std::vector<Gpu> gpus = Gpus();
  if (gpus.empty()) {
    std::puts("No devices were found");
    return 6;
  }
  std::string query_gpus, query_processes;
  Format format;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i], value;
    const size_t equals = option.find('=');
    if (equals != option.npos) {
      value = option.substr(equals + 1);
      option.resize(equals);
    } else if ((option == "-i" || option == "--id") && i + 1 < argc) {
      value = argv[++i];
    }
    if (option == "-L" || option == "--list-gpus") {
      list = true;
    } else if (option == "--query-gpu") {
      query_gpus = value;
    } else if (option == "--query-compute-apps") {
      query_processes = value;
    } else if (option == "--format") {
      for (const std::string& part : Split(value)) {
        if (part == "noheader") format.header = false;
        if (part == "nounits") format.units = false;
      }
    } else if (option == "-i" || option == "--id") {
      gpus = Chosen(gpus, value);
      if (gpus.empty()) {
        std::puts("No devices were found");
        return 6;
      }
    } else {
      std::printf(
          "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n\n");
      std::fprintf(stderr,
                   "vramscope: this nvidia-smi shows the emulated GPUs and does not support %s\n",
                   argv[i]);
      return 1;
    }
  }
  return list                       ? List(gpus)
         : !query_gpus.empty()      ? QueryGpus(gpus, query_gpus, format)
         : !query_processes.empty() ? QueryProcesses(gpus, query_processes, format)
                                    : Table(gpus);
}
