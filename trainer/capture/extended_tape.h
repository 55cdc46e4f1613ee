// Computes the tape of a micro-batch of a deep model from a tape on which only four units were
// executed: the first two and the last two. (A unit is a layer, or several layers that are
// checkpointed together.) If the two middle units did the same, all omitted units are assumed to do
// the same, too. Otherwise, there is no result.
//
//   std::optional<ExtendedTape> whole = Extend(tape, strings, units);
//   whole->tape, whole->strings                       // events use the ids of the new strings
//   whole->RowOf(row, 1, 7)  // the row of unit 7 that matches `row` of unit 1
//
// Method: the tape is divided into sections: a forward and a backward section for each unit. In its
// section, an allocation is identified by its properties (bytes, operator, module within the unit)
// and by how many allocations with the same properties precede it. An event may refer to
// allocations of its own unit, of neighbouring units, or from before the layers. Based on these
// identities, the sections of the two middle units are compared and copied.
//
// Does not use LibTorch. Immutable after construction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trainer/capture/tape.h"

namespace vramscope::trainer {

struct ExtendedTape {
  static constexpr uint64_t kNone = ~uint64_t{0};

  Tape tape;  // rows count from 0
  std::vector<std::string> strings;

  // Returns the row in unit `to` that matches `row` of the short tape, which is in unit `from`.
  // Returns kNone if there is none. Both are unit numbers of the whole model, and `from` was
  // executed. If `from` == `to`, `row` may be in any unit.
  uint64_t RowOf(uint64_t row, size_t from, size_t to) const;

  // Where a row of the short tape is: its unit, and what identifies it there.
  struct Place {
    bool in_stack = false;
    bool backward = false;
    int unit = 0;          // the executed unit: 0 to 3
    uint32_t key = 0;      // the same number for matching allocations of all units
    uint64_t row = kNone;  // row in the extended tape
  };
  std::vector<Place> places;
  // Indexed by [forward or backward][unit of the whole stack][key].
  std::vector<std::vector<uint64_t>> rows[2];
};

// `units` are the module paths of the layers of each unit, as in the tape's events
// ("model.layers.3"). Returns nullopt for fewer than five units, or if the tape does not consist of
// these sections.
std::optional<ExtendedTape> Extend(const Tape& tape, const std::vector<std::string>& strings,
                                   const std::vector<std::vector<std::string>>& units);

}  // namespace vramscope::trainer
