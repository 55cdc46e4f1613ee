// Builds recordings of made-up programs in the form of PyTorch's recorder, in which each allocation
// and free has a stack. The true category of each block is known.
//
//   Program p;
//   const uint32_t weight = p.Alloc(1 << 20, Category::kParameter, p.Stack({...}));
//   p.Record();                                  // the recording begins: the weight is older
//   p.Enter(Phase::kForward);
//   p.Free(p.Alloc(4096, Category::kTemporary));
//   const Stripped made = p.Take({.stacks = true});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "tests/profiler/inference/stripped.h"

namespace vramscope::testing {

struct MadeFrame {
  std::string function, file = {};
  uint32_t line = 1;
  friend auto operator<=>(const MadeFrame&, const MadeFrame&) = default;
};
using MadeStack = std::vector<MadeFrame>;  // innermost frame first

class Program {
 public:
  // Returns the row of a stack. Equal stacks have the same row.
  uint32_t Stack(const MadeStack& frames);
  // `stack` also applies to the frees that follow, until the next Alloc() or In().
  uint32_t Alloc(uint64_t bytes, trace::Category truth, uint32_t stack = 0);
  void Becomes(uint32_t block, trace::Category truth);
  void Free(uint32_t block);
  void Free(std::initializer_list<uint32_t> blocks);

  void Enter(trace::Phase phase) { phase_ = phase; }
  void Step(int step) { step_ = step; }        // -1: outside of steps
  void In(uint32_t stack) { stack_ = stack; }  // for frees that follow
  // Starts the recording. Live blocks are older than the recording.
  void Record();

  struct Options {
    bool stacks = true;
    bool older_stacks = false;  // for blocks older than the recording
    double cut = 1;             // share of the entries that is kept
  };
  Stripped Take(const Options& options) const;

 private:
  struct Act {
    enum class Kind : uint8_t { kAlloc, kFree, kBecomes } kind;
    uint32_t block, stack;
    trace::Category truth;
    trace::Phase phase;
    int step;
  };
  std::vector<Act> acts_;
  std::vector<uint64_t> bytes_;  // indexed by block
  size_t begin_ = 0;             // first event of the recording
  uint32_t stack_ = 0;
  trace::Phase phase_ = trace::Phase::kSetup;
  int step_ = -1;
  std::map<MadeStack, uint32_t> rows_;
};

// Two recordings of one process, merged. Each has one device; the second's becomes device
// 1.
struct Interleaved {
  recording::Recording recording;
  recording::History history;
  // For each entry of the first and of the second recording, its index in `recording`.
  std::vector<recording::EntryIndex> entry[2];
  std::vector<uint32_t> allocation[2];
};
Interleaved Interleave(const Stripped& first, const Stripped& second);

}  // namespace vramscope::testing
