#pragma once

#include <optional>
#include <string>

#include "overdue/call/operation.h"

namespace overdue {

inline constexpr Instant kStart{};

// For tests: one operation over a dependency of its own, told event by event, with its actions as text:
// "abandon 1 watch; start 2 connect_by 250ms answer_by 1150ms". Times count from the start.
struct ScriptedCall {
  ScriptedCall(const CallPolicyOptions& options, CallKind kind, std::uint64_t seed = 1)
      : dependency(CallPolicy::create(options).value(), kStart), operation(dependency, kind, seed) {}

  std::string start(std::optional<Instant> deadline = std::nullopt) {
    return tell(Duration(0), CallStarted{.deadline = deadline});
  }
  std::string connected(Duration at, std::uint32_t attempt) {
    return tell(at, AttemptConnected{AttemptNumber{attempt}});
  }
  std::string answer(Duration at, std::uint32_t attempt, std::uint16_t status) {
    return tell(at,
                AttemptEnded{.attempt = AttemptNumber{attempt}, .ending = Ending::replied, .status = status});
  }
  std::string refused(Duration at, std::uint32_t attempt) {
    return tell(at, AttemptEnded{.attempt = AttemptNumber{attempt}, .ending = Ending::refused});
  }
  std::string reset(Duration at, std::uint32_t attempt, bool nothing_written = false) {
    return tell(at, AttemptEnded{.attempt = AttemptNumber{attempt},
                                 .ending = Ending::reset,
                                 .nothing_written = nothing_written});
  }
  std::string end(Duration at, const AttemptEnded& ended) { return tell(at, ended); }
  std::string wakeup(Duration at) { return tell(at, WakeupReached{}); }
  std::string caller_left(Duration at) { return tell(at, CallerLeft{}); }

  // Starts, connects each attempt at once, answers none and follows the wakeups to the end; a line an event
  // that asked for something.
  std::string run_silent();

  std::string tell(Duration at, const Event& event);

  Dependency dependency;
  Operation operation;
};

}  // namespace overdue
