#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overdue/write/outcome.h"

namespace overdue {

// What a client of writes did and was told, mark by mark.
enum class HistoryMark : std::uint8_t {
  begun,         // A caller asks for a write: operation, caller, key, text (its intent).
  persisted,     // The entry is durable.
  sent,          // An attempt's first byte left: process, attempt, key, text (the bytes).
  did_nothing,   // The attempt is proved to have done nothing.
  crashed,       // The process lost its memory.
  told,          // The caller got its verdict, with outcome; text is the reply, where there is one.
  journaled,     // The journal says so from here on: outcome, or reason, or closing.
  horizon,       // The last send's time has passed.
  contradicted,  // An alarm was raised: proof against what a person decided.
};

struct HistoryEntry {
  HistoryMark mark = HistoryMark::begun;
  OperationId operation{};
  std::uint32_t process = 0;  // One life of it: after a crash comes another number.
  std::uint32_t attempt = 0;
  Verdict verdict = Verdict::unknown;   // Of told.
  EntryState state = EntryState::sent;  // Of journaled.
  Proof proof = Proof::none;            // Of told and journaled.
  PersonReason reason = PersonReason::nothing_offered;
  Closing closing;
  std::string caller, key, text;
};

using History = std::vector<HistoryEntry>;

}  // namespace overdue
