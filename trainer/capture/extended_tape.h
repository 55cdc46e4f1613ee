// A micro-batch of a deep model, from the tape of one in which only four units of its stack were
// executed (a unit: a layer, or the layers that are checkpointed together): the first two and the
// last two. What the two in the middle did is the same, or there is no answer; so all that were
// left out did it, too.
//
//   std::optional<ExtendedTape> whole = Extend(tape, strings, units);
//   whole->tape, whole->strings                       // events name things by the new strings
//   whole->RowOf(row, 1, 7)                           // what row of unit 1 is in unit 7
//
// How: the tape falls into the stretches of each unit, forward and backward. An allocation of a
// stretch is known by what it is (bytes, operator, module within the unit) and how many alike came
// before; an event refers to allocations of its own unit, of its neighbours, or of what came before
// the stack. With these the stretches of the two middle units are compared, and copied.
//
// Free of LibTorch. Immutable when made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/capture/tape.h"

namespace vramscope::trainer {

struct ExtendedTape {
  static constexpr uint64_t kNone = ~uint64_t{0};

  Tape tape;  // rows from 0
  std::vector<std::string> strings;

  // The row that is in unit `to` what `row` of the short tape is in unit `from` (both numbers of
  // the whole stack, `from` executed); kNone: there is none. For `from` == `to` any row.
  uint64_t RowOf(uint64_t row, size_t from, size_t to) const;

  // By row of the short tape, and by unit.
  struct Place {
    bool in_stack = false;
    bool backward = false;
    int unit = 0;          // executed one: 0 to 3
    uint32_t key = 0;      // what it is, the same number in every unit
    uint64_t row = kNone;  // of the extended tape
  };
  std::vector<Place> places;
  // [forward or backward][unit of the whole stack][key]
  std::vector<std::vector<uint64_t>> rows[2];
};

// `units`: the module paths of every unit's layers, as the tape's events name them
// ("model.layers.3"). Nothing: a stack of fewer than five units, or a tape that is not of that
// form.
std::optional<ExtendedTape> Extend(const Tape& tape, const std::vector<std::string>& strings,
                                   const std::vector<std::vector<std::string>>& units);

}  // namespace vramscope::trainer
