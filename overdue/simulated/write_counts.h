#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/write/checker.h"
#include "overdue/write/outcome.h"

namespace overdue {

// Writes of clients with a journal, per intent: how it stands at the end, by the last operation begun for it.
// intents = applied + not_applied + needs_person + open.
struct WriteCounts {
  std::uint64_t intents = 0;
  std::uint64_t applied = 0;
  std::uint64_t not_applied = 0;
  std::uint64_t needs_person = 0;
  std::uint64_t open = 0;           // Still unknown when the run ended.
  std::uint64_t ordered_again = 0;  // Operations after which the caller began another for the same intent.
  std::uint64_t unknown_at_deadline = 0;  // Operations whose caller was told so, or died before it was told.
  std::uint64_t resolved_later = 0;       // Of those: applied or not applied by the end.
  std::array<std::uint64_t, kProofNames.size()> by_proof{};  // Of applied and not applied, by Proof.

  void add(const WriteCounts& other) {
    intents += other.intents;
    applied += other.applied;
    not_applied += other.not_applied;
    needs_person += other.needs_person;
    open += other.open;
    ordered_again += other.ordered_again;
    unknown_at_deadline += other.unknown_at_deadline;
    resolved_later += other.resolved_later;
    for (std::size_t i = 0; i < by_proof.size(); ++i) by_proof[i] += other.by_proof[i];
  }
};

// By FindingKind, in the plural, as fields and JSON call them.
inline constexpr std::array<std::string_view, kFindingKindCount> kCheckNames = {
    "duplicates", "lost",    "guesses",     "reversals", "unfaithful",
    "leaks",      "changed", "unpersisted", "unresolved"};

// What the checker found in the client's history and the server's ledger, of the same clients.
struct CheckCounts {
  // Operations, by FindingKind, each once a kind; unresolved also what is open.
  std::array<std::uint64_t, kFindingKindCount> found{};
  std::vector<std::string> first;  // In words, at most five.

  std::uint64_t of(FindingKind kind) const { return found[static_cast<std::size_t>(kind)]; }
  std::uint64_t all() const { return std::accumulate(found.begin(), found.end(), std::uint64_t{0}); }
};

}  // namespace overdue
