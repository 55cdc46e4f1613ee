// Computes from a kernel's mangled name and its parameters how many bytes a launch moves, and what
// else limits its rate.
//
//   const WorkRules rules(mangled_name, parameter_sizes, operand_rules);
//   std::optional<LaunchWork> work = rules.Of(grid, block, parameters);  // of a launch
//
// PyTorch's kernels are recognised by their names. The number of elements is in the parameter where
// torch 2.11 passes it. Unknown kernels, and parameters that do not match, have no result.
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
    kSerial,
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
  double element_bytes_ = 0;  // bytes moved per element, or the size of an element
  int result_bytes_ = 0;
  int loader_ = 0;  // the parameter with the sizes of the inputs; 0: none
  int tensors_ = 0;
  int factors_[3] = {};  // their product is the number of elements; -1: the grid, -2: 1
  double clocks_ = 0;    // clocks of a multiprocessor per element
  double in_turn_s_ = 0;
  bool threads_in_turn_ = false;
  int batch_ = 0;  // capacity of a concatenation's lists
  int tile_rows_ = 0, tile_columns_ = 0;
  bool causal_ = false, random_ = false;
  Precision precision_ = Precision::kFp32;
};

}  // namespace vramscope::emulated
