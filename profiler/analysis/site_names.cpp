#include "profiler/analysis/site_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "profiler/base/i18n.h"
#include "profiler/trace/op_names.h"
#include "profiler/trace/python_files.h"

namespace vramscope::analysis {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kAutogradPrefix = "torch::autograd::";

bool Contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

// Returns whether this is code of a torch.fx graph (torch.compile, export), which has one line per
// node. Its files are numbered in the order of creation: "<eval_with_key>.12".
bool IsGraphCode(std::string_view file) { return file.starts_with("<eval_with_key>"); }

bool IsPython(std::string_view file, std::string_view function) {
  return IsGraphCode(file) || file.ends_with(".py") || file.ends_with(".pyx") ||
         (file.starts_with("<") && file.ends_with(">")) ||  // "<string>", "<ipython-input-3>"
         (function == "<module>" && !file.empty());
}

// Returns "MmBackward0" for "torch::autograd::generated::MmBackward0::apply(...)", and "" for other
// functions.
std::string_view NodeOf(std::string_view function) {
  if (!function.starts_with(kAutogradPrefix)) return "";
  const size_t apply = function.find("::apply(");
  if (apply == std::string_view::npos) return "";
  const std::string_view path = function.substr(0, apply);
  const size_t colon = path.rfind(':');
  return colon == std::string_view::npos ? path : path.substr(colon + 1);
}

// Returns whether the function is a dispatched operator that does more than allocate memory.
bool IsOperator(std::string_view function) {
  return function.starts_with("at::_ops::") && !trace::AsksForStorageOnly(function);
}

// Removes the return type: "at::TensorBase at::detail::_empty_generic<long>(...)" becomes
// "at::detail::_empty_generic<long>(...)". Only names of template functions include it.
std::string_view WithoutResult(std::string_view function) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < function.size(); ++i) {
    const char c = function[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (depth != 0) continue;
    if (c == '(' && !function.substr(i).starts_with(kAnonymous)) break;
    if (c == '(') i += kAnonymous.size() - 1;
    if (function.substr(i).starts_with("operator")) break;  // "operator new", "operator()"
    if (c == ' ') begin = i + 1;
  }
  return function.substr(begin);
}

// Returns whether this is a file of PyTorch in which modules call each other. Every stack of a
// model has frames in such files.
bool CallsModules(std::string_view file) {
  for (const std::string_view name : {"module", "container"})
    for (const std::string_view slash : {"/", "\\"})
      if (file.ends_with(fmt::format("nn{0}modules{0}{1}.py", slash, name))) return true;
  return false;
}

// Returns whether the function is a comprehension. From Python 3.12 on, it has no frame of its own
// (PEP 709).
bool IsInlined(std::string_view function) {
  return function == "<listcomp>" || function == "<dictcomp>" || function == "<setcomp>";
}

// Returns whether this is a frame of the interpreter, the dispatcher or the allocator. Every stack
// has them.
bool IsMachinery(std::string_view function) {
  function = WithoutResult(function);
  for (const std::string_view prefix :
       {"torch::unwind", "torch::CapturedTraceback",
        "torch::cuda::", "c10::", "at::detail::", "at::meta::", "at::native::empty",
        "at::native::_empty", "at::empty", "at::_ops::", "at::(anonymous namespace)",
        "torch::autograd::VariableType::", "torch::ADInplaceOrView::", "Py", "_Py", "std::", "__",
        "_start", "??"}) {
    if (function.starts_with(prefix)) return true;
  }
  return function.empty();
}

}  // namespace

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string FileLabel(std::string_view path) {
  constexpr std::string_view kInput = "<ipython-input-";
  constexpr size_t kDigits = 4;
  if (path.starts_with(kInput)) {
    path.remove_prefix(kInput.size());
    return fmt::format("In[{}]", path.substr(0, path.find_first_of("->")));
  }
  if (IsGraphCode(path)) return "graph";
  std::string_view base = BaseName(path);
  if (Contains(path, "ipykernel_") && base.ends_with(".py")) {
    base.remove_suffix(3);
    // The file name is a hash of the cell. Its last digits suffice to tell the cells of a notebook
    // apart.
    return fmt::format("cell {}", base.substr(base.size() - std::min(base.size(), kDigits)));
  }
  return std::string(base);
}

std::string FrameName(std::string_view file, uint32_t line, std::string_view function) {
  return fmt::format("{}{} {}", FileLabel(file),
                     line == 0 ? std::string() : fmt::format(":{}", line), function);
}

std::string SiteName(std::string_view frames, std::string_view op) {
  // The name of a node takes the place of the operator's name.
  if (op.empty() || (!frames.empty() && op.ends_with(frames))) return std::string(frames);
  return frames.empty() ? std::string(op) : fmt::format("{} > {}", frames, op);
}

std::string_view FunctionName(std::string_view function) {
  function = WithoutResult(function);
  size_t open = function.find('(');
  while (open != std::string_view::npos && function.substr(open).starts_with(kAnonymous)) {
    open = function.find('(', open + kAnonymous.size());
  }
  if (open != std::string_view::npos && open > 0) function = function.substr(0, open);
  return function.substr(0, 100);
}

std::string_view LastParts(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return path;
  const size_t before = path.rfind('/', slash - 1);
  return before == std::string_view::npos ? path : path.substr(before + 1);
}

std::string SiteNames::SearchText(uint32_t frame) const {
  if (!OfPython(frame)) return {};
  const uint32_t line = trace_.stacks.line[frame];
  // Both names of the frame are in the text, because in notebooks neither name contains the
  // other.
  return fmt::format("{}:{} {}\n{}:{} {}", LastParts(File(frame)), line, Function(frame),
                     FileLabel(File(frame)), line, Function(frame));
}

bool SiteNames::IsInstalled(std::string_view file) const {
  // A script next to the packages belongs to the program.
  return trace::IsInstalledPython(file) ||
         std::ranges::any_of(trace_.package_folders, [&](std::string_view folder) {
           return file.starts_with(folder) &&
                  file.substr(folder.size()).find(folder.back()) != std::string_view::npos;
         });
}

SiteNames::Frame SiteNames::KindOf(uint32_t frame) const {
  const std::string_view file = File(frame), function = Function(frame);
  if (IsPython(file, function)) return IsInstalled(file) ? Frame::kLibrary : Frame::kProgram;
  if (!NodeOf(function).empty()) return Frame::kNode;
  if (IsOperator(function)) return Frame::kOperator;
  return Frame::kMachinery;
}

std::vector<std::string> SiteNames::Callers(trace::StackId stack) const {
  std::vector<std::string> program, library;
  std::string_view node, other;
  bool within = false;  // an inner frame is an operator
  for (const uint32_t frame : trace_.stacks.Frames(stack)) {
    const Frame kind = KindOf(frame);
    if (kind == Frame::kProgram || kind == Frame::kLibrary) {
      (kind == Frame::kProgram ? program : library).push_back(FrameName(frame));
    } else if (kind == Frame::kNode && node.empty()) {
      node = NodeOf(Function(frame));
    } else if (kind == Frame::kOperator && !within) {
      within = true;  // functions within an operator are not its callers
      other = "";
    } else if (other.empty() && !IsMachinery(Function(frame)) && kind != Frame::kOperator) {
      other = FunctionName(Function(frame));
    }
  }
  if (!program.empty()) return program;
  if (!library.empty()) return library;
  if (!node.empty()) return {std::string(node)};
  if (!other.empty()) return {std::string(other)};
  return {};
}

std::vector<std::string> SiteNames::Within(trace::StackId stack) const {
  std::vector<std::string> within;
  std::string_view last;
  for (const uint32_t frame : trace_.stacks.Frames(stack)) {
    const Frame kind = KindOf(frame);
    if (kind == Frame::kProgram) return within;
    if (kind != Frame::kLibrary) continue;
    const std::string_view file = File(frame);
    if (file != last && !file.starts_with("<frozen") && !CallsModules(file))
      within.push_back(FrameName(frame));
    last = file;
  }
  return {};
}

bool SiteNames::IsTopLevel(trace::StackId stack) const {
  for (const uint32_t frame : trace_.stacks.Frames(stack))
    if (KindOf(frame) == Frame::kProgram) return Function(frame) == "<module>";
  return false;
}

std::string SiteNames::FrameName(uint32_t frame) const {
  return analysis::FrameName(File(frame), trace_.stacks.line[frame], Function(frame));
}

std::string SiteNames::Name(trace::StackId stack, std::string_view op, size_t depth,
                            size_t within) const {
  if (stack.value == 0 || stack.value >= trace_.stacks.size()) return "";
  std::vector<std::string> callers = Callers(stack);
  if (within > 0) {
    const std::vector<std::string> inner = Within(stack);
    const size_t shown = std::min(within, inner.size());
    callers.insert(callers.begin(), inner.begin(),
                   inner.begin() + static_cast<std::ptrdiff_t>(shown));
    depth += shown;
  }
  const std::string made = op.empty() ? Operator(stack) : std::string();
  if (op.empty()) op = made;
  const auto end = callers.begin() + static_cast<std::ptrdiff_t>(std::min(depth, callers.size()));
  return SiteName(fmt::format("{}", fmt::join(callers.begin(), end, " < ")), op);
}

std::string SiteNames::Operator(trace::StackId stack) const {
  for (const uint32_t frame : trace_.stacks.Frames(stack)) {
    if (IsOperator(Function(frame))) return trace::OperatorName(Function(frame));
  }
  return "";
}

std::string_view SiteNames::ScriptOf(trace::StackId stack) const {
  std::string_view script;
  for (const uint32_t frame : trace_.stacks.Frames(stack))
    if (Function(frame) == "<module>" && KindOf(frame) == Frame::kProgram) script = File(frame);
  return script;
}

std::string SiteNames::Key(trace::StackId stack, bool portable) const {
  std::string key;
  bool python = false;
  std::string_view node;
  const std::string_view script = portable ? ScriptOf(stack) : std::string_view();
  for (const uint32_t frame : trace_.stacks.Frames(stack)) {
    const Frame kind = KindOf(frame);
    if (kind == Frame::kNode && node.empty()) node = NodeOf(Function(frame));
    if (kind != Frame::kProgram && kind != Frame::kLibrary) continue;
    python = true;
    std::string_view file = File(frame);
    if (portable && IsInlined(Function(frame))) continue;
    if (portable && IsGraphCode(file)) {
      key += fmt::format("graph:{}\n{}\n", trace_.stacks.line[frame], Function(frame));
    } else if (portable && file == script) {
      key += fmt::format("\n{}\n", Function(frame));
    } else if (portable) {
      const std::string_view base = BaseName(file);
      const std::string_view folder =
          BaseName(file.substr(0, file.size() - std::min(file.size(), base.size() + 1)));
      key += fmt::format("{}/{}\n{}\n", folder, base, Function(frame));
    } else {
      key += fmt::format("{}:{}\n{}\n", file, trace_.stacks.line[frame], Function(frame));
    }
  }
  key += fmt::format("\n{}\n{}", node, Operator(stack));
  if (python || key.size() > 2) return key;
  // There are no Python frames, so the key is the whole stack.
  for (const uint32_t frame : trace_.stacks.Frames(stack)) {
    key += fmt::format("{}\n", Function(frame));
  }
  return key;
}

std::string SiteNames::InnermostKey(trace::StackId stack, bool within_packages) const {
  const std::span<const uint32_t> frames = trace_.stacks.Frames(stack);
  const auto program = std::ranges::find_if(frames, [&](uint32_t frame) {
    const Frame kind = KindOf(frame);
    return kind == Frame::kProgram ||
           (within_packages && kind == Frame::kLibrary && !CallsModules(File(frame)));
  });
  if (program == frames.end()) return "";
  std::string line;  // in a graph, each line is a node
  if (IsGraphCode(File(*program))) line = fmt::format(":{}", trace_.stacks.line[*program]);
  std::string_view node;
  for (const uint32_t frame : frames)
    if (KindOf(frame) == Frame::kNode && node.empty()) node = NodeOf(Function(frame));
  return fmt::format("{}{}\n{}\n{}\n{}", FileLabel(File(*program)), line, Function(*program), node,
                     Operator(stack));
}

std::string ModuleOpName(const trace::Trace& trace, trace::StringId module, trace::StringId op,
                         bool older) {
  const std::string_view m = trace.String(module), o = trace.String(op);
  if (m.empty() && o.empty()) return older ? "(before the recording)" : "(unattributed)";
  return fmt::format("{} > {}", m.empty() ? "(no module)" : m, o.empty() ? "(no op)" : o);
}

std::string ShownName(std::string_view name) {
  // Placeholders for missing names. All other names come from the program.
  static constexpr std::string_view kUnnamed[] = {
      TEXT_MARK("(before the recording)"),
      TEXT_MARK("(allocated before profiling began, not freed during it)"),
      TEXT_MARK("(unattributed)"),
      TEXT_MARK("(no module)"),
      TEXT_MARK("(no op)"),
      TEXT_MARK("(no stack)"),
      TEXT_MARK("(no file)"),
      TEXT_MARK("(no annotation)")};
  constexpr std::string_view kBetween = " > ";
  std::string out;
  while (true) {
    const size_t end = name.find(kBetween);
    const std::string_view part = name.substr(0, end);
    if (std::ranges::find(kUnnamed, part) != std::end(kUnnamed))
      out += i18n::Text(part);
    else
      out += part;
    if (end == std::string_view::npos) return out;
    out += kBetween;
    name.remove_prefix(end + kBetween.size());
  }
}

}  // namespace vramscope::analysis
