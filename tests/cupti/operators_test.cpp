// Reports PyTorch's operators through NVTX's table of functions, which the tests provide.
#include "cupti/operators.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
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

std::vector<uint64_t> g_causes;  // open ranges

}  // namespace

extern "C" int InitializeInjectionNvtx2(ExportTable);

namespace vramscope::cupti {
namespace {

int Push(const char* name) { return reinterpret_cast<int (*)(const char*)>(g_functions[9])(name); }
int Pop() { return reinterpret_cast<int (*)()>(g_functions[11])(); }

TEST(Operators, AreParsedFromRangeNames) {
  EXPECT_EQ(OperatorOfRange("aten::mm, seq = 3, op_id = 12"), "aten::mm");
  EXPECT_EQ(OperatorOfRange("aten::empty, op_id = 12"), "aten::empty");
  EXPECT_EQ(OperatorOfRange("MmBackward0, seq = 3, op_id = 9, sizes = [[1, 2]]"), "MmBackward0");
  EXPECT_EQ(OperatorOfRange("autograd::engine::evaluate_function: AddBackward0, op_id = 4"),
            "AddBackward0");
  EXPECT_EQ(OperatorOfRange("my training step"), "");
  EXPECT_EQ(OperatorOfRange(""), "");
}

TEST(Operators, AreExternalIdsOfCalls) {
  for (size_t i = 0; i < std::size(g_table); ++i) g_table[i] = &g_functions[i];
  EXPECT_EQ(InitializeInjectionNvtx2(nullptr), 0);
  g_size = 11;
  EXPECT_EQ(InitializeInjectionNvtx2(&Exported), 0) << "a table without the functions";
  g_size = 16;
  ASSERT_EQ(InitializeInjectionNvtx2(&Exported), 1);

  EXPECT_EQ(Pop(), -2) << "nothing is open";
  // No client is running yet, so this operator and its end are ignored.
  EXPECT_EQ(Push("aten::early, op_id = 1"), 0);
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
  Client::The().Stop();  // open ranges are still closed
  EXPECT_EQ(Pop(), 1);
  EXPECT_TRUE(g_causes.empty());
  EXPECT_EQ(Pop(), 0);
  EXPECT_TRUE(g_causes.empty());

  // The client has stopped, but the history of allocations still gets the operators.
  EXPECT_EQ(OperatorHere(), 0);
  Push("aten::_to_copy, op_id = 5");
  const uint16_t copy = OperatorHere();
  EXPECT_NE(copy, 0);
  Push("aten::empty_strided, op_id = 6");
  EXPECT_EQ(OperatorHere(), copy) << "aten::empty_strided only allocates";
  Pop();
  Push("a range of the program");
  EXPECT_EQ(OperatorHere(), copy);
  Push("aten::mm, op_id = 7");
  const uint16_t product = OperatorHere();
  EXPECT_NE(product, copy);
  std::thread([&] {
    EXPECT_EQ(OperatorHere(), 0) << "of another thread";
    Push("aten::mm, op_id = 8");
    EXPECT_EQ(OperatorHere(), product) << "one name, one number";
    Pop();
  }).join();
  Pop();
  Pop();
  EXPECT_EQ(OperatorHere(), copy);
  Pop();
  EXPECT_EQ(OperatorHere(), 0);

  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(WriteOperators(fileno(file)));
  EXPECT_TRUE(WriteOperators(fileno(file))) << "each is written once";
  std::string text(4096, '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  const std::string line = "[\"o\"," + std::to_string(copy) + ",\"aten::_to_copy\"]\n";
  const size_t at = text.find(line);
  EXPECT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find(line, at + 1), std::string::npos);
  EXPECT_EQ(text.find("aten::empty"), std::string::npos);
}

}  // namespace
}  // namespace vramscope::cupti
