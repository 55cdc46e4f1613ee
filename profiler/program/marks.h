// Marks that a watched program's hooks write (emulated/python), in addition to the allocator's
// history. A mark's position in the history is not a time, but the number of requests (allocations
// and frees) before it.
//
//   ASSIGN_OR_RETURN(Marks marks, ParseMarks(text));
//   for (const Mark& mark : marks.rows) use(mark.kind, marks.Name(mark.a));
//
// Plain data and functions without state; thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::program {

// Within a thread, begin and end marks of the same kind are nested.
enum class MarkKind : char {
  kBegin = 'X',    // the history begins
  kForward = 'F',  // outermost module call: a = name, b = gradients are recorded, c = training mode
  kForwardEnd = 'f',
  kModule = 'M',  // a = name
  kModuleEnd = 'm',
  kBackward = 'B',
  kBackwardEnd = 'b',
  kBackwardModule = 'G',  // from here on backward runs for module a, or for no module (-1)
  kOptimizer = 'O',
  kOptimizerEnd = 'o',
  kZeroGrad = 'Z',
  kZeroGradEnd = 'z',
  kData = 'D',
  kDataEnd = 'd',
  kGenerate = 'P',  // generation of tokens: transformers' generate()
  kGenerateEnd = 'p',
  kSave = 'W',  // a checkpoint is written
  kSaveEnd = 'w',
  kLoad = 'L',
  kLoadEnd = 'l',
  kRange = 'A',  // a range that the program named: a = name
  kRangeEnd = 'a',
  kMadeAs = 'C',  // allocations from here on have category a
  kMadeAsEnd = 'c',
  kTag = 't',       // the block that contains address b has category a
  kHeld = 'k',      // the program holds a tensor in the block that contains address a
  kSaved = 's',     // autograd saves the block that contains address a, under the number b
  kReleased = 'r',  // autograd releases what it saved under the number a
  kCounter = 'R',   // the program read a counter of PyTorch: a = name, b = bytes, c = device
  kMissingGradients = 'N',  // a of b trainable parameters in optimizers have had no gradient; c
                            // = bytes of the a parameters
  kElsewhere = 'e',         // the next mark's position on another device
  kEnd = 'E',               // the process ends
};

struct Mark {
  MarkKind kind = MarkKind::kEnd;
  uint8_t device = 0;
  uint32_t thread = 0;    // threads are numbered in order of their first marks
  uint64_t requests = 0;  // allocations and frees of the device before the mark
  int64_t time_ns = 0;
  uint64_t a = 0, b = 0, c = 0;
};

struct Marks {
  std::vector<Mark> rows;
  std::vector<std::string> names;
  std::vector<uint64_t> native_threads;  // the system's id of each thread; 0: not known
  uint32_t threads = 0;                  // number of threads with marks
  // The number of lines that could not be parsed, for example the last line of a killed program.
  uint64_t unreadable = 0;

  std::string_view Name(uint64_t number) const {
    return number < names.size() ? std::string_view(names[number]) : std::string_view();
  }
};

inline constexpr size_t kMaxMarksBytes = size_t{1} << 30;
inline constexpr size_t kMaxMarks = size_t{1} << 24;
inline constexpr size_t kMaxNames = size_t{1} << 20;
inline constexpr uint32_t kMaxThreads = 1u << 16;

// Parses lines `["M",DEVICE,REQUESTS,NANOSECONDS,THREAD,...]`, `["n",NUMBER,"TEXT"]` and
// `["T",THREAD,NATIVE]`; names precede their use. Invalid lines are counted. kResourceExhausted:
// there are more marks than the limits above.
absl::StatusOr<Marks> ParseMarks(std::string_view text);

// Parses a file that still grows. Every call reads the lines that were added since the last one.
class MarksReader {
 public:
  // kNotFound: the file does not exist yet. `ended`: the program has ended, so the last line is
  // complete.
  absl::Status ReadMore(const std::string& path, bool ended);
  const Marks& marks() const { return marks_; }

 private:
  Marks marks_;
  uint64_t read_ = 0;  // bytes read from the file
  std::string rest_;   // the beginning of an incomplete line
};

}  // namespace vramscope::program
