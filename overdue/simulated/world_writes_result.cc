#include <set>
#include <utility>

#include "overdue/simulated/world.h"

// What became of writes that were to end confirmed, and what the checker makes of it.

namespace overdue::world {
namespace {

constexpr std::size_t kFindingsShown = 5;

void count(WriteCounts& counts, const WriteOperation& operation) {
  if (operation.told_unknown) {
    ++counts.unknown_at_deadline;
    if (operation.ended()) ++counts.resolved_later;
  }
  if (operation.superseded) {  // The intent is counted by its last operation.
    ++counts.ordered_again;
    return;
  }
  ++counts.intents;
  switch (operation.state) {
    case EntryState::applied:
      ++counts.applied;
      break;
    case EntryState::rejected:
    case EntryState::never:
      ++counts.not_applied;
      break;
    case EntryState::needs_person:
      ++counts.needs_person;
      return;
    case EntryState::sent:
    case EntryState::closed:
      ++counts.open;
      return;
  }
  ++counts.by_proof[static_cast<std::size_t>(operation.proof)];
}

void add(CheckCounts& sum, FindingKind kind, const std::string& text) {
  ++sum.found[static_cast<std::size_t>(kind)];
  if (sum.first.size() < kFindingsShown)
    sum.first.push_back(std::string(kFindingKindNames[static_cast<std::size_t>(kind)]) + ": " + text);
}

}  // namespace

// Requires: the run is over.
void World::add_writes(RunResult& result) {
  if (writes_ == nullptr) return;
  for (std::uint32_t i = 0; i < writes_->journals.size(); ++i) {
    if (writes_->journals[i].said != nullptr) result.clients[i].writes.emplace();
  }
  const bool drained = open_sources_ == 0 && calls_.used() == 0 && !interrupted_;
  for (const WriteOperation& operation : writes_->operations) {
    ClientResult& client = result.clients[operation.client];
    count(*client.writes, operation);
    // Where the run ended first nobody can say whether it would have: that is no end either.
    if (!drained && operation.state == EntryState::sent && !operation.superseded) {
      const std::string text = operation.intent + " was still open when the run ended";
      add(client.checker, FindingKind::unresolved, text);
      add(result.checker, FindingKind::unresolved, text);
    }
  }
  // An operation counts once for each kind: it is told, journaled and answered by one and the same mistake.
  std::set<std::pair<OperationId, FindingKind>> found;
  for (const Finding& finding : check_writes(writes_->history, writes_->ledger, drained)) {
    if (!found.emplace(finding.operation, finding.kind).second) continue;
    const WriteOperation& operation = writes_->operation(finding.operation);
    const std::string text = operation.intent + " " + finding.text;
    add(result.clients[operation.client].checker, finding.kind, text);
    add(result.checker, finding.kind, text);
  }
  for (const ClientResult& client : result.clients) {
    if (!client.writes) continue;
    if (!result.writes) result.writes.emplace();
    result.writes->add(*client.writes);
  }
}

}  // namespace overdue::world
