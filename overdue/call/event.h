#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <type_traits>
#include <variant>

#include "overdue/base/attempt.h"
#include "overdue/base/check.h"
#include "overdue/base/effect.h"
#include "overdue/base/time.h"

namespace overdue {

// Numbers the attempts of one call 1, 2, 3, ... in the order they start.
enum class AttemptNumber : std::uint32_t {};

// Events: what a world tells an Operation.

// The caller asks. `deadline` is the one the caller brought, if any; the promise of the policy is another,
// and the earlier one holds.
struct CallStarted {
  std::optional<Instant> deadline;
};
// The attempt has its connection, a new one or one of a pool. Told before the first byte is written: unless
// the answer to it abandons the attempt, the world then sends the request.
struct AttemptConnected {
  AttemptNumber attempt;
};
// The attempt ended, or an attempt given up was answered after all. For an answer, replied and rejected are
// the same here: the status and the error contract decide which it is.
struct AttemptEnded {
  AttemptNumber attempt;
  Ending ending;
  std::uint16_t status = 200;           // Of an answer.
  bool nothing_written = false;         // Not one byte of the request was handed to the network.
  bool do_not_retry = false;            // The server asks for no retry (pushback).
  std::optional<Duration> retry_after;  // The server asks to wait this long.
  std::optional<Duration> way;          // Of the trip, as way_of() (deadline.h) has it.
};
struct CallerLeft {};
struct WakeupReached {};  // The Instant given by next_wakeup() has come.
using Event = std::variant<CallStarted, AttemptConnected, AttemptEnded, CallerLeft, WakeupReached>;

enum class Verdict : std::uint8_t { applied, not_applied, unknown };

// What a verdict rests on.
enum class Proof : std::uint8_t {
  none,                    // Verdict::unknown.
  reply,                   // A success; of a read, any answer.
  recorded_rejection,      // The server's no, stored under the key. Of a read: any listed rejection.
  every_attempt_definite,  // Each attempt is proved to have done nothing.
  never_sent,              // Not one byte left.
  // The rest come after the call, from questions (write/): what the server's record of the key says.
  status_applied,         // The status of the key says applied.
  listed,                 // The effect is listed with our id.
  fenced,                 // A tombstone stands where the write would go.
  limit_passed,           // Absent, and too late to be done: read together, by the server's clock.
  sealed_and_not_listed,  // The key was seen to be closed, and a listing asked after that has no effect.
};

// Why the call ended when it did.
enum class Stop : std::uint8_t {
  answered,           // A final answer.
  deadline,           // The deadline came.
  caller_left,        // Our caller did not wait.
  deadline_was_past,  // Nothing was tried.
  not_retried,        // The failure is not one the policy tries again, or the server asked for no retry.
  not_safe_to_retry,  // The write may have happened and has no key.
  attempts_spent,     // All attempts were made.
  budget_spent,       // The retry budget is empty.
  no_time_to_retry,   // The wait before the next attempt would end at or past the deadline.
};

// Actions: what an Operation asks of its world, to be done in order.

// The Operation keeps both limits itself; here they are to be told on, as through
// Dependency::allowance_for_next_hop(). The time to connect begins now: it covers the name lookup and the
// wait for a connection of a pool.
struct StartAttempt {
  AttemptNumber attempt;
  std::optional<Instant> connect_by;
  std::optional<Instant> answer_by;
};
// Stop waiting for its answer; its work may go on over there. Where nothing was sent yet, nothing must be.
struct AbandonAttempt {
  AttemptNumber attempt;
  bool watch;  // Keep the connection, and report an answer that comes after all.
};
// The caller's answer, exactly once.
struct FinishCall {
  Verdict verdict;
  Proof proof;
  Stop stop;
  // The attempt whose answer it is, else the last one to end, and how: the real error beside "no time to
  // retry". Attempt 0 where none was started; the rest means nothing then.
  AttemptNumber attempt;
  Ending last_ending;
  std::uint16_t last_status;  // 0 where there was no answer.
};
// An answer that came at or after the finish: for whoever owns the write from here, and for the measurements.
struct HandOnLate {
  AttemptNumber attempt;
  Evidence evidence;
  Ending ending;
  std::uint16_t status;
};
using Action = std::variant<StartAttempt, AbandonAttempt, FinishCall, HandOnLate>;

// What one event asks for, in order. Fixed capacity, so nothing is allocated: at worst an attempt's limit
// passes, the next one starts, and a late answer of the first ends the call. Places not taken are not written
// to either: three lists a call would cost as much as all its decisions.
class ActionList {
 public:
  static constexpr std::size_t kCapacity = 5;

  ActionList() : size_(0) {}

  const Action* begin() const { return std::launder(reinterpret_cast<const Action*>(places_.data())); }
  const Action* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const Action& operator[](std::size_t index) const {
    OVERDUE_CHECK(index < size_);
    return begin()[index];
  }
  // Adds an action, with its members as they are by default, to be filled in where it stands.
  template <typename OneAction>
  OneAction& add() {
    OVERDUE_CHECK(size_ < kCapacity);
    auto* action = ::new (&places_[size_ * sizeof(Action)]) Action(std::in_place_type<OneAction>);
    OneAction& added =
        *std::get_if<OneAction>(action);  // Before the size is written: then it is no question.
    ++size_;
    return added;
  }
  template <typename OneAction>
  void push(const OneAction& action) {
    OVERDUE_CHECK(size_ < kCapacity);
    ::new (&places_[size_ * sizeof(Action)]) Action(action);
    ++size_;
  }

 private:
  // Without an initial value, on purpose.
  alignas(Action) std::array<std::byte, kCapacity * sizeof(Action)> places_;
  std::size_t size_;
};
static_assert(std::is_trivially_copyable_v<Action> && std::is_trivially_destructible_v<Action>);

}  // namespace overdue
