#include "overdue/report/writes_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "overdue/base/quantity.h"
#include "overdue/report/text_table.h"

namespace overdue {
namespace {

// By FindingKind: one of it, and several.
constexpr std::array<std::pair<std::string_view, std::string_view>, kFindingKindCount> kFound = {
    {{"duplicate", "duplicates"},
     {"lost", "lost"},
     {"guess", "guesses"},
     {"reversal", "reversals"},
     {"unfaithful reply", "unfaithful replies"},
     {"leaked key", "leaked keys"},
     {"changed request", "changed requests"},
     {"unpersisted", "unpersisted"},
     {"unresolved", "unresolved"}}};

std::string spaced(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

// "reply 1,040, status applied 60"; empty where none was proved.
std::string proofs_of(const WriteCounts& writes) {
  std::vector<std::string> parts;
  for (std::size_t proof = 1; proof < kProofNames.size(); ++proof) {
    if (writes.by_proof[proof] > 0)
      parts.push_back(fmt::format("{} {}", spaced(kProofNames[proof]), format_count(writes.by_proof[proof])));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string proofs_line(const WriteCounts& writes) {
  const std::string proofs = proofs_of(writes);
  return proofs.empty() ? "" : fmt::format("  by proof: {}\n", proofs);
}

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "" : format_rate(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string writes_table(const WriteCounts& writes) {
  TextTable table({2});
  const auto add = [&](std::string_view what, std::uint64_t count, std::uint64_t whole) {
    table.add({std::string(what), format_count(count), share_of(count, whole)});
  };
  add("intents", writes.intents, writes.intents);
  add("applied", writes.applied, writes.intents);
  add("not applied", writes.not_applied, writes.intents);
  add("a person must look", writes.needs_person, writes.intents);
  add("still unknown at the end", writes.open, writes.intents);
  if (writes.ordered_again > 0) table.add({"ordered again", format_count(writes.ordered_again), ""});
  table.add({"caller told unknown", format_count(writes.unknown_at_deadline), ""});
  add("of those resolved later", writes.resolved_later, writes.unknown_at_deadline);
  return table.text(2) + proofs_line(writes);
}

std::string writes_line(const WriteCounts& writes) {
  return fmt::format(
             "  writes: {} intents, {} applied, {} not applied, {} at a person, {} open; of {} told unknown "
             "{} "
             "were resolved later\n",
             format_count(writes.intents), format_count(writes.applied), format_count(writes.not_applied),
             format_count(writes.needs_person), format_count(writes.open),
             format_count(writes.unknown_at_deadline), format_count(writes.resolved_later)) +
         proofs_line(writes);
}

std::string checker_lines(const CheckCounts& checker, const TextStyle& style) {
  const auto coloured = [&](std::string_view code, std::string_view what) {
    return style.colours ? fmt::format("\x1b[{}m{}\x1b[0m", code, what) : std::string(what);
  };
  if (checker.all() == 0)
    return fmt::format("  checker: {}\n", coloured("32", "no duplicate, no loss, no guess"));
  std::vector<std::string> parts;
  for (std::size_t kind = 0; kind < kFindingKindCount; ++kind) {
    const std::uint64_t count = checker.found[kind];
    if (count > 0)
      parts.push_back(
          fmt::format("{} {}", format_count(count), count == 1 ? kFound[kind].first : kFound[kind].second));
  }
  std::string text =
      fmt::format("  checker: {}\n", coloured("31", fmt::format("{}", fmt::join(parts, ", "))));
  for (const std::string& first : checker.first) text += fmt::format("    {}\n", printable(first));
  return text;
}

}  // namespace overdue
