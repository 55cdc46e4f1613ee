// PyTorch's operators as NVTX tells a tool of them, by a table of functions made by hand.
#include "cupti/operators.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cupti/client.h"

namespace {

using Function = void (*)();
using ExportTable = const void* (*)(uint32_t);

Function g_functions[16] = {};
Function* g_table[16] = {};
unsigned g_size = 16;
int ModuleTable(uint32_t module, Function*** table, unsigned* size) {
  *table = g_table;
  *size = g_size;
  return module == 1;
}
struct {
  size_t bytes = sizeof(void*) * 2;
  int (*module_table)(uint32_t, Function***, unsigned*) = &ModuleTable;
} g_callbacks;
const void* Exported(uint32_t id) { return id == 1 ? &g_callbacks : nullptr; }

std::vector<uint64_t> g_causes;  // that are open

}  // namespace

extern "C" int InitializeInjectionNvtx2(ExportTable);

namespace vramscope::cupti {
namespace {

int Push(const char* name) { return reinterpret_cast<int (*)(const char*)>(g_functions[9])(name); }
int Pop() { return reinterpret_cast<int (*)()>(g_functions[11])(); }

TEST(Operators, OfRanges) {
  EXPECT_EQ(OperatorOfRange("aten::mm, seq = 3, op_id = 12"), "aten::mm");
  EXPECT_EQ(OperatorOfRange("aten::empty, op_id = 12"), "aten::empty");
  EXPECT_EQ(OperatorOfRange("MmBackward0, seq = 3, op_id = 9, sizes = [[1, 2]]"), "MmBackward0");
  EXPECT_EQ(OperatorOfRange("autograd::engine::evaluate_function: AddBackward0, op_id = 4"),
            "AddBackward0");
  EXPECT_EQ(OperatorOfRange("my training step"), "");
  EXPECT_EQ(OperatorOfRange(""), "");
}

TEST(Operators, AreTheCausesOfCalls) {
  for (size_t i = 0; i < std::size(g_table); ++i) g_table[i] = &g_functions[i];
  EXPECT_EQ(InitializeInjectionNvtx2(nullptr), 0);
  g_size = 11;
  EXPECT_EQ(InitializeInjectionNvtx2(&Exported), 0) << "a table without the functions";
  g_size = 16;
  ASSERT_EQ(InitializeInjectionNvtx2(&Exported), 1);

  EXPECT_EQ(Pop(), -2) << "nothing is open";
  EXPECT_EQ(Push("aten::early, op_id = 1"), 0);  // nobody listens yet: left alone, and its end too
  Library library;
  library.ActivityRegisterCallbacks = [](RequestBuffer, BufferCompleted) { return 0; };
  library.ActivityEnable = [](uint32_t) { return 0; };
  library.ActivityDisable = [](uint32_t) { return 0; };
  library.ActivityFlushAll = [](uint32_t) { return 0; };
  library.ActivityPushExternalCorrelationId = [](uint32_t, uint64_t id) {
    g_causes.push_back(id);
    return 0;
  };
  library.ActivityPopExternalCorrelationId = [](uint32_t, uint64_t* last) {
    *last = g_causes.back();
    g_causes.pop_back();
    return 0;
  };
  ASSERT_TRUE(Client::The().Start({library, ""}, {}).running);
  EXPECT_EQ(Push("aten::linear, seq = 7, op_id = 2"), 1);
  EXPECT_EQ(Push("a range of the program"), 2);
  EXPECT_EQ(Push("aten::mm, seq = 7, op_id = 3"), 3);
  ASSERT_EQ(g_causes.size(), 2u);
  EXPECT_EQ(g_causes[0], ExternalId(Client::The().Name("aten::linear"), {}));
  EXPECT_EQ(g_causes[1], ExternalId(Client::The().Name("aten::mm"), {}));
  EXPECT_NE(g_causes[0], g_causes[1]);
  EXPECT_EQ(Pop(), 3);
  EXPECT_EQ(Pop(), 2);
  EXPECT_EQ(g_causes.size(), 1u);
  Client::The().Stop();  // what is open is still closed
  EXPECT_EQ(Pop(), 1);
  EXPECT_TRUE(g_causes.empty());
  EXPECT_EQ(Pop(), 0);
  EXPECT_TRUE(g_causes.empty());
}

}  // namespace
}  // namespace vramscope::cupti
