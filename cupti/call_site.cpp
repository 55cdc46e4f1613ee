#include "cupti/call_site.h"

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <set>

#include "profiler/trace/python_files.h"

namespace vramscope::cupti {
namespace {

constexpr int kMostCallers = 2048;  // maximum number of frames that are searched
constexpr size_t kMostSites = size_t{1} << 16;

// Holds the interpreter's lock. Without it, another thread could change the objects that are read.
class Locked {
 public:
  explicit Locked(const PythonFrames& frames) : frames_(frames), before_(frames.Lock()) {}
  ~Locked() { frames_.Unlock(before_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  const PythonFrames& frames_;
  int before_;
};

// Disables the garbage collector, which may call the program's code. Since Python 3.11, reading a
// frame creates an object, which may start the collector.
class WithoutCollector {
 public:
  explicit WithoutCollector(const PythonFrames& frames)
      : frames_(frames),
        enabled_(frames.DisableCollector != nullptr && frames.EnableCollector != nullptr &&
                 frames.DisableCollector() != 0) {}
  ~WithoutCollector() {
    if (enabled_) frames_.EnableCollector();
  }
  WithoutCollector(const WithoutCollector&) = delete;
  WithoutCollector& operator=(const WithoutCollector&) = delete;

 private:
  const PythonFrames& frames_;
  bool enabled_;
};

std::string TextOf(const PythonApi& py, PyObject* object, const char* attribute) {
  PyObject* const name = py.InternFromString(attribute);
  PyObject* const value = name == nullptr ? nullptr : py.GetAttr(object, name);
  std::ptrdiff_t size = 0;
  const char* const bytes = value == nullptr ? nullptr : py.AsUtf8(value, &size);
  std::string text(bytes == nullptr ? "" : bytes, bytes == nullptr ? 0 : static_cast<size_t>(size));
  if (bytes == nullptr) py.ErrorClear();
  for (PyObject* const one : {name, value})
    if (one != nullptr) py.DecRef(one);
  return text;
}

// Returns vramscope's folder of Python code, "/opt/vramscope/python/", or "" if the program was not
// started by vramscope.
std::string FolderOfHooks() {
  const char* const inject = getenv("VRAMSCOPE_PROGRAM_PYTHONPATH");  // .../python/inject
  const std::string_view path = inject == nullptr ? "" : inject;
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(path.substr(0, slash + 1));
}

// Call with the interpreter's lock held, so that the mutex is never locked while Python
// forks.
const char* Kept(std::string site) {
  static std::mutex changing;
  static auto* const sites = new std::set<std::string>;  // never destroyed
  std::lock_guard lock(changing);
  if (sites->size() >= kMostSites && !sites->contains(site)) return nullptr;
  return sites->insert(std::move(site)).first->c_str();
}

}  // namespace

std::string CallSiteOf(const PythonApi& py, const PythonFrames& frames, std::string_view hooks) {
  if (py.ErrorOccurred() != nullptr) return "";  // reading attributes would replace the error
  const WithoutCollector still(frames);
  std::string innermost;
  PyObject* frame = frames.Innermost();
  if (frame != nullptr) py.IncRef(frame);
  for (int depth = 0; frame != nullptr && depth < kMostCallers; ++depth) {
    std::string file, site;
    if (PyObject* const code = frames.CodeOf(frame); code != nullptr) {
      file = TextOf(py, code, "co_filename");
      site = file + ":" + std::to_string(std::max(frames.LineOf(frame), 0)) + " " +
             TextOf(py, code, "co_name");
      py.DecRef(code);
    }
    const bool of_hooks = !hooks.empty() && file.starts_with(hooks);
    const bool of_program = !file.empty() && !of_hooks && !trace::IsInstalledPython(file);
    if (of_program || (innermost.empty() && !file.empty() && !of_hooks)) innermost = site;
    PyObject* const caller = of_program ? nullptr : frames.CallerOf(frame);
    py.DecRef(frame);
    frame = caller;
  }
  if (frame != nullptr) py.DecRef(frame);
  return innermost;
}

const char* CallSite() {
  const PythonApi& py = PythonApi::The();
  const PythonFrames& frames = PythonFrames::The();
  if (!py.complete || !frames.complete || frames.IsInitialized() == 0 ||
      frames.IsFinalizing() != 0 || frames.StateOfThread() == nullptr)
    return nullptr;
  static const std::string* const hooks = new std::string(FolderOfHooks());
  const Locked locked(frames);
  std::string site = CallSiteOf(py, frames, *hooks);
  return site.empty() ? nullptr : Kept(std::move(site));
}

}  // namespace vramscope::cupti
