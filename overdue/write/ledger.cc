#include "overdue/write/ledger.h"

#include <algorithm>

namespace overdue {
namespace {

int worth(LedgerMark mark) {
  if (mark == LedgerMark::effect) return 1;
  return mark == LedgerMark::effect_lost ? -1 : 0;
}

}  // namespace

int Ledger::effects_of(std::string_view intent) const {
  int effects = 0;
  for (const LedgerEntry& entry : entries_) {
    if (entry.intent == intent) effects += worth(entry.mark);
  }
  return effects;
}

int Ledger::effects_under(std::string_view caller, std::string_view key) const {
  int effects = 0;
  for (const LedgerEntry& entry : entries_) {
    if (entry.caller == caller && entry.key == key) effects += worth(entry.mark);
  }
  return effects;
}

bool Ledger::has(LedgerMark mark, std::string_view caller, std::string_view key) const {
  return std::ranges::any_of(entries_, [&](const LedgerEntry& entry) {
    return entry.mark == mark && entry.caller == caller && entry.key == key;
  });
}

bool Ledger::answered(std::string_view caller, std::string_view key, std::string_view reply) const {
  return std::ranges::any_of(entries_, [&](const LedgerEntry& entry) {
    const bool answers = entry.mark == LedgerMark::effect || entry.mark == LedgerMark::rejected;
    return answers && entry.caller == caller && entry.key == key && entry.reply == reply;
  });
}

}  // namespace overdue
