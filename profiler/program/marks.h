// What a watched program's hooks wrote beside the allocator's history (emulated/python): marks,
// each with its place in the history, which is counted in requests and not in time.
//
//   ASSIGN_OR_RETURN(Marks marks, ParseMarks(text));
//   for (const Mark& mark : marks.rows) use(mark.kind, marks.Name(mark.a));
//
// Values; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::program {

// Begins and ends of one kind nest on a thread.
enum class MarkKind : char {
  kBegin = 'X',       // the history begins
  kForward = 'F',     // a module is called by no other: a = name, b = gradients are recorded,
  kForwardEnd = 'f',  // c = the module trains
  kModule = 'M',      // a = name
  kModuleEnd = 'm',
  kBackward = 'B',
  kBackwardEnd = 'b',
  kBackwardModule = 'G',  // backward of what module a saved runs from here on; -1: of none
  kOptimizer = 'O',
  kOptimizerEnd = 'o',
  kZeroGrad = 'Z',
  kZeroGradEnd = 'z',
  kData = 'D',
  kDataEnd = 'd',
  kGenerate = 'P',  // tokens, transformers' generate()
  kGenerateEnd = 'p',
  kSave = 'W',  // a checkpoint
  kSaveEnd = 'w',
  kLoad = 'L',
  kLoadEnd = 'l',
  kRange = 'A',  // that the program named: a = name
  kRangeEnd = 'a',
  kMadeAs = 'C',  // what is allocated from here on is of category a
  kMadeAsEnd = 'c',
  kTag = 't',        // the block that holds address b is of category a
  kKept = 'k',       // the program holds a tensor in the block that holds address a
  kSaved = 's',      // autograd keeps the block that holds address a, under the number b
  kReleased = 'r',   // and lets go of what it kept under the number a
  kCounter = 'R',    // the program read a counter of PyTorch's: a = name, b = bytes, c = device
  kMissingGradients = 'N',   // of a trainable parameters that optimizers have b got no gradient so far, c
                     // bytes of weights
  kElsewhere = 'e',  // nothing but a place: where another device is at the next mark
  kEnd = 'E',        // the process ends
};

struct Mark {
  MarkKind kind = MarkKind::kEnd;
  uint8_t device = 0;
  uint32_t thread = 0;    // in order of their first mark
  uint64_t requests = 0;  // allocations and frees of the device before it
  int64_t time_ns = 0;
  uint64_t a = 0, b = 0, c = 0;
};

struct Marks {
  std::vector<Mark> rows;
  std::vector<std::string> names;
  std::vector<uint64_t> native_threads;  // by thread: its number in the system; 0: not said
  uint32_t threads = 0;                  // that have marks
  uint64_t unreadable = 0;  // lines that are no marks: the last one, where the program was killed

  std::string_view Name(uint64_t number) const {
    return number < names.size() ? std::string_view(names[number]) : std::string_view();
  }
};

inline constexpr size_t kMaxMarksBytes = size_t{1} << 30;
inline constexpr size_t kMaxMarks = size_t{1} << 24;
inline constexpr size_t kMaxNames = size_t{1} << 20;
inline constexpr uint32_t kMaxThreads = 1u << 16;

// Lines `["M",DEVICE,REQUESTS,NANOSECONDS,THREAD,...]`, `["n",NUMBER,"TEXT"]` and
// `["T",THREAD,NATIVE]`, names before their use. What is no such line is counted.
// kResourceExhausted: more than the limits above.
absl::StatusOr<Marks> ParseMarks(std::string_view text);

// The same of a file that still grows: every call takes the lines that have come since.
class MarksReader {
 public:
  // kNotFound: there is no such file yet. `ended`: no more is written, the last line counts as it
  // is.
  absl::Status ReadMore(const std::string& path, bool ended);
  const Marks& marks() const { return marks_; }

 private:
  Marks marks_;
  uint64_t read_ = 0;  // bytes of the file
  std::string rest_;   // of a line that is not whole yet
};

}  // namespace vramscope::program
