#include "overdue/call/scripted_call.h"

#include <fmt/format.h>

#include <array>

#include "overdue/base/quantity.h"

namespace overdue {
namespace {

constexpr std::array<std::string_view, 3> kVerdicts = {"applied", "not_applied", "unknown"};
constexpr std::array<std::string_view, 5> kProofs = {"none", "reply", "recorded_rejection",
                                                     "every_attempt_definite", "never_sent"};
constexpr std::array<std::string_view, 9> kStops = {"answered",          "deadline",     "caller_left",
                                                    "deadline_was_past", "not_retried",  "not_safe_to_retry",
                                                    "attempts_spent",    "budget_spent", "no_time_to_retry"};

template <typename Names, typename Value>
std::string_view name_in(const Names& names, Value value) {
  return names.at(static_cast<std::size_t>(value));
}

std::uint32_t number(AttemptNumber attempt) { return static_cast<std::uint32_t>(attempt); }

std::string limit_text(std::string_view name, const std::optional<Instant>& limit) {
  return limit ? fmt::format(" {} {}", name, format_duration_exact(*limit - kStart)) : std::string();
}

std::string text_of(const StartAttempt& start) {
  // Where the connection has no limit of its own, that of the answer says it all.
  return fmt::format("start {}{}{}", number(start.attempt),
                     start.connect_by == start.answer_by ? "" : limit_text("connect_by", start.connect_by),
                     limit_text("answer_by", start.answer_by));
}

std::string text_of(const AbandonAttempt& abandon) {
  return fmt::format("abandon {}{}", number(abandon.attempt), abandon.watch ? " watch" : "");
}

std::string text_of(const FinishCall& finish) {
  std::string text = fmt::format("finish {} by {}, {}", name_in(kVerdicts, finish.verdict),
                                 name_in(kProofs, finish.proof), name_in(kStops, finish.stop));
  if (finish.attempt == AttemptNumber{0}) return text;
  text += fmt::format(": attempt {} {}", number(finish.attempt), name_in(kEndingNames, finish.last_ending));
  if (finish.last_status != 0) text += fmt::format(" {}", finish.last_status);
  return text;
}

std::string text_of(const HandOnLate& late) {
  return fmt::format("late {} {} {}", number(late.attempt), name_in(kEffectNames, late.evidence.effect),
                     late.status);
}

}  // namespace

std::string ScriptedCall::tell(Duration at, const Event& event) {
  std::string text;
  for (const Action& action : operation.handle(kStart + at, event)) {
    if (!text.empty()) text += "; ";
    text += std::visit([](const auto& one) { return text_of(one); }, action);
  }
  return text;
}

std::string ScriptedCall::run_silent() {
  std::string text;
  Duration now{};
  std::string actions = start();
  while (true) {
    if (!actions.empty()) text += fmt::format("{} {}\n", format_duration_exact(now), actions);
    if (operation.finished()) return text;
    if (actions.find("start") != std::string::npos) connected(now, operation.attempts());
    now = *operation.next_wakeup() - kStart;
    actions = wakeup(now);
  }
}

}  // namespace overdue
