#include <iterator>
#include <set>
#include <string>
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

void add(Findings& findings, FindingKind kind, OperationId operation, const std::string& text) {
  const auto number = static_cast<std::size_t>(kind);
  ++findings.found[number];
  findings.first.emplace(operation, std::string(kFindingKindNames[number]) + ": " + text);
  if (findings.first.size() > kFindingsShown) findings.first.erase(std::prev(findings.first.end()));
}

CheckCounts counts_of(const Findings& findings) {
  CheckCounts counts{.found = findings.found, .first = {}};
  for (const auto& [operation, text] : findings.first) counts.first.push_back(text);
  return counts;
}

}  // namespace

// Counts writes that no longer change, and holds history and ledger of them against each other.
void WorldState::tally_writes(const std::map<OperationId, WriteOperation>& operations, const History& history,
                              const Ledger& ledger, bool drained) {
  const auto add_finding = [&](OperationId id, FindingKind kind, const std::string& what) {
    const WriteOperation& operation = operations.at(id);
    const std::string text = operation.intent + " " + what;
    add(writes_->journals[operation.client].findings, kind, id, text);
    add(writes_->findings, kind, id, text);
  };
  for (const auto& [id, operation] : operations) {
    count(writes_->journals[operation.client].counts, operation);
    // Where the run ended first nobody can say whether it would have: that is no end either.
    if (!drained && operation.state == EntryState::sent && !operation.superseded)
      add_finding(id, FindingKind::unresolved, "was still open when the run ended");
  }
  // An operation counts once for each kind: it is told, journaled and answered by one and the same mistake.
  std::set<std::pair<OperationId, FindingKind>> found;
  for (const Finding& finding : check_writes(history, ledger, drained)) {
    if (!found.emplace(finding.operation, finding.kind).second) continue;
    add_finding(finding.operation, finding.kind, finding.text);
  }
}

// Requires: the run is over.
void World::add_writes(RunResult& result) {
  if (writes_ == nullptr) return;
  const bool drained = open_sources_ == 0 && calls_.used() == 0 && !interrupted_;
  tally_writes(writes_->operations, writes_->history, writes_->ledger, drained);
  result.checker = counts_of(writes_->findings);
  for (std::uint32_t i = 0; i < writes_->journals.size(); ++i) {
    const JournalState& journal = writes_->journals[i];
    if (journal.said == nullptr) continue;
    result.clients[i].writes = journal.counts;
    result.clients[i].checker = counts_of(journal.findings);
    if (!result.writes) result.writes.emplace();
    result.writes->add(journal.counts);
  }
}

}  // namespace overdue::world
