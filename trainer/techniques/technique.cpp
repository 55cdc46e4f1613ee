#include "trainer/techniques/technique.h"

#include <algorithm>

#include "trainer/capture/taps.h"
#include "trainer/models/family.h"
#include "trainer/techniques/declared.h"

namespace vramscope::trainer {
namespace {

std::vector<const TechniqueEntry*> InOrder() {
  std::vector<const TechniqueEntry*> entries;
  for (const TechniqueEntry& entry : AllTechniques()) entries.push_back(&entry);
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto* a, const auto* b) { return a->order < b->order; });
  return entries;
}

}  // namespace

std::vector<std::unique_ptr<Technique>> MakeTechniques(const run::RunConfig& config) {
  std::vector<std::unique_ptr<Technique>> out;
  for (const TechniqueEntry* entry : InOrder()) {
    if (!entry->make) continue;
    if (std::unique_ptr<Technique> technique = entry->make(config)) {
      out.push_back(std::move(technique));
    }
  }
  return out;
}

std::unordered_set<uint64_t> StoragesOf(Model& model) {
  std::unordered_set<uint64_t> out;
  for (Parameter* parameter : model.Parameters()) out.insert(StorageKey(parameter->tensor));
  model.Visit([&](Module& module, const std::string&) {
    for (const auto& buffer : module.buffers()) out.insert(StorageKey(buffer->tensor));
  });
  return out;
}

run::Catalogue DeclaredCatalogue() {
  run::Catalogue out;
  std::vector<const TechniqueEntry*> entries = InOrder();
  const auto place = [](const TechniqueEntry* e) { return e->place > 0 ? e->place : e->order; };
  std::stable_sort(entries.begin(), entries.end(),
                   [&](const auto* a, const auto* b) { return place(a) < place(b); });
  for (const TechniqueEntry* entry : entries) {
    out.techniques.push_back(entry->declaration);
    out.moves.insert(out.moves.end(), entry->fit.begin(), entry->fit.end());
    for (run::ModelledBlocks blocks : entry->modelled) {
      blocks.technique = entry->declaration.id;
      out.modelled.push_back(std::move(blocks));
    }
  }
  for (const OptimizerEntry& entry : AllOptimizers()) out.optimizers.push_back(entry.declaration);
  for (const Family& family : Families()) out.families.push_back(family.declaration);
  return out;
}

}  // namespace vramscope::trainer
