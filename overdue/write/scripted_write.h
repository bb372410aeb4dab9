#pragma once

#include <string>
#include <vector>

#include "overdue/write/write_lifecycle.h"

namespace overdue {

// For tests: one lifecycle over a dependency of its own, told event by event, with its actions as text:
// "persist outcome applied reply; tell applied reply". Times count from the start.
struct ScriptedWrite {
  ScriptedWrite(const CallPolicyOptions& options, const WriteTerms& write_terms,
                WriteLifecycle::Identity identity = {});

  std::string start(Duration deadline) {
    return tell(Duration(0), CallStarted{.deadline = Instant(deadline)});
  }
  std::string recovered(const EntryRecovered& entry) { return tell(Duration(0), entry); }
  std::string persisted(Duration at, PersistKind kind, PersistResult result = PersistResult::done) {
    return tell(at, PersistEnded{.kind = kind, .result = result});
  }
  std::string connected(Duration at, std::uint32_t attempt) {
    return tell(at, AttemptConnected{AttemptNumber{attempt}});
  }
  std::string answer(Duration at, std::uint32_t attempt, std::uint16_t status) {
    return tell(at,
                AttemptEnded{.attempt = AttemptNumber{attempt}, .ending = Ending::replied, .status = status});
  }
  std::string end(Duration at, std::uint32_t attempt, Ending ending) {
    return tell(at, AttemptEnded{.attempt = AttemptNumber{attempt}, .ending = ending});
  }
  std::string told(Duration at, const RecordTold& answer) { return tell(at, answer); }
  std::string wakeup(Duration at) { return tell(at, WakeupReached{}); }

  std::string tell(Duration at, const WriteEvent& event);

  Dependency dependency;
  WriteTerms terms;
  WriteLifecycle lifecycle;
  std::vector<WriteRow> rows;  // Of the last event.
};

std::string text_of(const WriteAction& action);
std::string_view name_of(WriteRow row);

// A policy of two attempts without a wait between them, and an error contract: 429 did nothing, 402 is
// recorded, 409 in flight, 422 another payload.
CallPolicyOptions two_attempts();

}  // namespace overdue
