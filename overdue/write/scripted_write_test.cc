#include "overdue/write/scripted_write.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

using namespace std::chrono_literals;

std::string outcome_text(const Outcome& outcome) {
  return fmt::format("{} {}", kEntryStateNames[static_cast<std::size_t>(outcome.state)],
                     kProofNames[static_cast<std::size_t>(outcome.proof)]);
}

struct Text {
  std::string operator()(const Persist& what) const {
    std::string text = fmt::format("persist {}", kPersistKindNames[static_cast<std::size_t>(what.kind)]);
    if (what.kind == PersistKind::outcome || what.kind == PersistKind::contradiction)
      text += " " + outcome_text(what.outcome);
    if (what.kind == PersistKind::person)
      text += fmt::format(" {}", kPersonReasonNames[static_cast<std::size_t>(what.reason)]);
    if (what.kind == PersistKind::closing)
      text += fmt::format(" {}{}", what.closing.applied ? "applied" : "not applied",
                          what.closing.applied || what.closing.sealed ? "" : " unproven");
    if (what.guard) text += fmt::format(" if epoch {}", *what.guard);
    return text;
  }
  std::string operator()(const StartAttempt& start) const {
    return fmt::format("start {}", static_cast<std::uint32_t>(start.attempt));
  }
  std::string operator()(const AbandonAttempt& abandon) const {
    return fmt::format("abandon {}", static_cast<std::uint32_t>(abandon.attempt));
  }
  std::string operator()(const SendAgain& send) const {
    return fmt::format("send again {}", static_cast<std::uint32_t>(send.attempt));
  }
  std::string operator()(const Ask& ask) const {
    return fmt::format("{}{}", kOnUnknownNames[static_cast<std::size_t>(ask.question.kind)],
                       ask.question.after_seal ? " after seal" : "");
  }
  std::string operator()(const Tell& tell) const {
    if (tell.verdict == Verdict::unknown) return "tell unknown";
    return "tell " + outcome_text(tell.outcome);
  }
  std::string operator()(const Resolved& resolved) const {
    return "resolved " + outcome_text(resolved.outcome);
  }
  std::string operator()(const AskPerson& ask) const {
    return fmt::format("ask person {}", kPersonReasonNames[static_cast<std::size_t>(ask.reason)]);
  }
  std::string operator()(const PersonAnswered& answered) const {
    return answered.declined ? "decline" : answered.closing.applied ? "closed applied" : "closed not applied";
  }
  std::string operator()(const RaiseAlarm& alarm) const { return "alarm " + outcome_text(alarm.outcome); }
};

}  // namespace

std::string text_of(const WriteAction& action) { return std::visit(Text{}, action); }

std::string_view name_of(WriteRow row) {
  static constexpr std::string_view kNames[] = {
      "O1",  "O2",  "O3",  "O4",  "O5",  "O6",  "O7",  "O8",  "O9",  "O10", "O11", "O12", "O13",
      "O14", "O15", "O16", "L0",  "L1",  "L2",  "L3",  "L4",  "L5",  "L6",  "L7",  "L8",  "L9",
      "L10", "L11", "L12", "L13", "L14", "L15", "L16", "L17", "L18", "L19", "L20"};
  static_assert(std::size(kNames) == kWriteRowCount);
  return kNames[static_cast<std::size_t>(row)];
}

CallPolicyOptions two_attempts() {
  CallPolicyOptions options;
  options.attempts_max = 2;
  options.request_timeout = 10s;
  options.backoff = {.base = 0s, .cap = 0s, .jitter = Jitter::none};
  options.errors.set(429, StatusMeaning::nothing_happened);
  options.errors.set(402, StatusMeaning::recorded_rejection);
  options.errors.set(409, StatusMeaning::in_flight);
  options.errors.set(422, StatusMeaning::other_payload);
  options.errors.set(410, StatusMeaning::error);
  return options;
}

ScriptedWrite::ScriptedWrite(const CallPolicyOptions& options, const WriteTerms& write_terms,
                             WriteLifecycle::Identity identity)
    : dependency(CallPolicy::create(options).value(), Instant{}),
      terms(write_terms),
      lifecycle(dependency, terms, identity) {
  terms.between_steps = {.base = 1s, .cap = 1s, .jitter = Jitter::none};
}

std::string ScriptedWrite::tell(Duration at, const WriteEvent& event) {
  const WriteActions out = lifecycle.handle(Instant(at), event);
  rows = out.rows;
  std::string text;
  for (const WriteAction& action : out.actions) {
    if (!text.empty()) text += "; ";
    text += text_of(action);
  }
  return text;
}

TEST(ScriptedWrite, ShowsWhatAnEventAskedForAndWhichRowsWereTaken) {
  ScriptedWrite write(two_attempts(), {});
  EXPECT_EQ(write.start(100s), "persist entry");
  EXPECT_EQ(write.rows, std::vector{WriteRow::O1});
}

}  // namespace overdue
