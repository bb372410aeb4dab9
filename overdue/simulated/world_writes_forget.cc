#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "overdue/simulated/world.h"

// Memory that does not grow with the run: a write that has ended, and of which nothing is left in the world
// that could still have an effect, is counted, checked and forgotten. Where somebody is wrong keys may be
// shared, and an effect that nobody asked for may be anybody's: then all is kept to the end.

namespace overdue::world {
namespace {

template <typename Part>
bool is_wrong(const Part* said) {
  return said != nullptr && said->wrong.any();
}

}  // namespace

void WorldState::forget_from_now_on() {
  const auto wrong = [](const auto& state) { return is_wrong(state.said); };
  writes_->forgets =
      std::ranges::none_of(writes_->journals, wrong) && std::ranges::none_of(writes_->stores, wrong);
  writes_->forget_at = options_.writes_kept_min;
}

std::size_t WorldState::kept_of_writes() const {
  std::size_t kept = writes_->history.size() + writes_->ledger.entries().size() + writes_->operations.size();
  for (const StoreState& store : writes_->stores) kept += store.done_at.size() + store.listed.size();
  return kept;
}

// The numbers of intents that something in the world still speaks of.
std::unordered_set<std::uint64_t> WorldState::intents_under_way() const {
  std::unordered_set<std::uint64_t> numbers;
  for (std::uint32_t i = 0; i < calls_.made(); ++i) {
    if (calls_[i].in_use) numbers.insert(calls_[i].key);
  }
  for (const auto& [id, operation] : writes_->operations) {
    const auto entry = writes_->journals[operation.client].journal.find(id);
    const bool open = entry && !is_confirmed(entry->state) && entry->state != EntryState::closed;
    if (!operation.ended() || open) numbers.insert(operation.number);
  }
  for (const StoreState& store : writes_->stores) {
    for (const UndurableCommit& commit : store.undurable) numbers.insert(commit.root_key);
  }
  return numbers;
}

void WorldState::forget_ended_writes() {
  if (!writes_->forgets || kept_of_writes() < writes_->forget_at) return;
  const std::unordered_set<std::uint64_t> under_way = intents_under_way();
  std::unordered_set<std::string> keys;
  for (const std::uint64_t number : under_way) keys.insert("intent-" + std::to_string(number));
  std::map<OperationId, WriteOperation> ended;
  for (auto next = writes_->operations.begin(); next != writes_->operations.end();) {
    const auto here = next++;
    if (under_way.contains(here->second.number))
      keys.insert(here->second.key);
    else
      ended.insert(ended.end(), writes_->operations.extract(here));
  }
  for (JournalState& journal : writes_->journals)  // Of those whose process died, another has ended some.
    std::erase_if(journal.orphans, [&](OperationId id) { return ended.contains(id); });
  History history, history_left;
  for (HistoryEntry& entry : writes_->history)
    (ended.contains(entry.operation) ? history : history_left).push_back(std::move(entry));
  writes_->history = std::move(history_left);
  Ledger ledger, ledger_left;
  for (const LedgerEntry& entry : writes_->ledger.entries())
    (keys.contains(entry.key) ? ledger_left : ledger).add(entry);
  writes_->ledger = std::move(ledger_left);
  for (StoreState& store : writes_->stores) {
    std::erase_if(store.done_at, [&](const auto& done) { return !keys.contains(done.first.key); });
    std::erase_if(store.listed, [&](const auto& effect) { return !keys.contains(effect.second); });
    store.records.forget_if([&](const KeyScope& scope) { return !keys.contains(scope.key); });
  }
  tally_writes(ended, history, ledger, true);
  // To look at all that is kept costs as much as to forget as much again.
  writes_->forget_at = 2 * kept_of_writes() + options_.writes_kept_min;
}

}  // namespace overdue::world
