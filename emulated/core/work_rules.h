// What a launch does: the bytes that it moves, and what else holds it up, by its kernel's mangled
// name and the parameters that it was given.
//
//   const WorkRules rules(mangled_name, parameter_sizes, operand_rules);
//   std::optional<LaunchWork> work = rules.Of(grid, block, parameters);  // of a launch
//
// Kernels of PyTorch are known by their names, where their numbers of elements lie by those of
// torch 2.11 (what does not look like that is not known). Of a kernel that is not known, nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulated/core/durations.h"
#include "emulated/core/operand_rules.h"

namespace vramscope::emulated {

class WorkRules {
 public:
  WorkRules() = default;
  WorkRules(const char* mangled_name, std::vector<uint16_t> parameter_sizes,
            const OperandRules& operands);

  std::optional<LaunchWork> Of(const Dim& grid, const Dim& block, void** parameters) const;

 private:
  enum class Kind {
    kUnknown,
    kElementwise,
    kStrided,
    kReduction,
    kLists,
    kRows,
    kConcatenation,
    kInTurn,
    kEfficientForward,
    kEfficientBackward,
    kFlashForward,
    kFlashBackward,
  };
  using Work = std::optional<LaunchWork>;

  bool Elementwise(const std::string& function, const std::vector<std::string>& types);
  bool Rows(const std::string& function, const std::vector<std::string>& types);
  bool Attention(const std::string& name, const std::string& function);

  Work OfElementwise(void** parameters) const;
  Work OfStrided(void** parameters) const;
  Work OfReduction(const Dim& block, void** parameters) const;
  Work OfLists(const Dim& grid, void** parameters) const;
  Work OfRows(const Dim& grid, const Dim& block, void** parameters) const;
  Work OfConcatenation(const Dim& grid, void** parameters) const;
  Work OfAttention(const Dim& grid, void** parameters) const;
  double Number(void** parameters, int parameter) const;

  Kind kind_ = Kind::kUnknown;
  std::vector<uint16_t> sizes_;
  OperandRules operands_;
  double element_bytes_ = 0;  // that are moved for each element, or the bytes of one
  int result_bytes_ = 0;
  int loader_ = 0;  // the parameter that says the bytes of what is read; 0: none does
  int tensors_ = 0;
  int factors_[3] = {};  // parameters whose product is the number of elements; -1: the grid, -2: 1
  double clocks_ = 0;    // of a multiprocessor, an element
  double in_turn_s_ = 0;
  bool threads_in_turn_ = false;
  int batch_ = 0;  // of a concatenation's lists
  int tile_rows_ = 0, tile_columns_ = 0;
  bool causal_ = false, random_ = false;
  Precision precision_ = Precision::kFp32;
};

}  // namespace vramscope::emulated
