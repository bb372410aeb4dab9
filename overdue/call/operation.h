#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "overdue/base/check.h"
#include "overdue/base/effect.h"
#include "overdue/base/time.h"
#include "overdue/call/dependency.h"
#include "overdue/call/event.h"

namespace overdue {

// What may be repeated: a read always, a write under its key, a write without one only while nothing of it
// can have happened.
enum class CallKind : std::uint8_t { read, keyed_write, unkeyed_write };

// Operation decides, for one remote call, when to start, repeat, abandon and finish its attempts. It does no
// I/O and reads no clock: a world feeds it events with the time they happened and carries out the actions it
// returns.
//
//     idle --CallStarted--> waiting <--> backing_off --> (listening) --> finished
//
// The first event at or past the call's deadline finishes the call by the clock, whatever the event says, so
// the verdict depends on times and not on which of two racing events was delivered first. An attempt's own
// limit likewise comes before an event of the same time. FinishCall is returned exactly once. Answers of
// abandoned attempts count until then; what comes after the finish is handed on (HandOnLate), not thrown
// away. A write of which a watched attempt may still be answered listens for it until the deadline when no
// more can be sent; a read returns its error at once.
//
// This is LIFECYCLE's table O without its persisting half, which is the write room's: writes here are sent
// without being persisted, and a proof of every attempt is told as it is.
//
// Requires: CallStarted comes first and once; `now` never runs backwards; the dependency outlives it.
// Size:     at most 256 bytes, no allocation, trivially copyable.
// Threads:  none; one owner drives it.
// Replay:   equal dependency, seed and events give equal actions.
class Operation {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): see started_at_ns_.
  Operation(Dependency& dependency, CallKind kind, std::uint64_t seed)
      : dependency_(&dependency), seed_(seed), kind_(kind) {}

  [[nodiscard]] ActionList handle(Instant now, const Event& event);
  // The same for one who knows which event it is.
  [[nodiscard]] ActionList handle(Instant now, const CallStarted& event);
  [[nodiscard]] ActionList handle(Instant now, const AttemptConnected& event);
  [[nodiscard]] ActionList handle(Instant now, const AttemptEnded& event);
  [[nodiscard]] ActionList handle(Instant now, const CallerLeft& event);
  [[nodiscard]] ActionList handle(Instant now, const WakeupReached& event);
  // In place of handle(AttemptConnected) for a world in which connections are always there: it would ask for
  // nothing. Requires: the last answer started an attempt, and it is still the same moment.
  void connected_at_once() {
    OVERDUE_CHECK(state_ == State::waiting);
    AttemptState& attempt = states_[attempts_ - 1];
    attempt.connected = true;
    attempt.sent = true;
    wakeup_ = answer_by_;
  }

  // When to deliver WakeupReached; nullopt if only an outside event can matter. Each answer replaces the one
  // before: ask again after every handle().
  [[nodiscard]] std::optional<Instant> next_wakeup() const {
    const Instant next = finished() ? Instant::max() : std::min(deadline_, wakeup_);
    if (next == Instant::max()) return std::nullopt;
    return next;
  }

  [[nodiscard]] bool finished() const { return state_ == State::finished; }
  std::optional<Instant> deadline() const;
  std::uint32_t attempts() const { return attempts_; }
  // What is known of one attempt, now. Requires: it was started.
  Effect effect_of(AttemptNumber attempt) const;

 private:
  enum class State : std::uint8_t { idle, waiting, backing_off, listening, finished };
  // On even places: written and read as one number, which must not lie across two lines of the cache.
  struct alignas(2) AttemptState {
    Effect effect = Effect::unknown;
    bool connected : 1 = false;
    bool sent : 1 = false;      // A byte of it may have left.
    bool ended : 1 = false;     // By an answer or a broken connection, or given up.
    bool given_up : 1 = false;  // Ended by us; an answer to it is a late one.
    bool watched : 1 = false;   // Given up, and such an answer may still be reported.
  };
  // How an attempt failed, as far as trying again goes.
  struct Failure {
    Ending ending;
    StatusMeaning meaning = StatusMeaning::error;
    bool nothing_sent = false;
    bool do_not_retry = false;
    Duration delay_min{};  // As the server asks.
  };

  // What the clock alone decides, before the event is looked at.
  void advance(Instant now, ActionList& actions) {
    if (now >= deadline_ || now >= wakeup_) limit_passed(now, actions);
  }
  void limit_passed(Instant now, ActionList& actions);
  void on_started(Instant now, const CallStarted& event, ActionList& actions);
  void on_connected(const AttemptConnected& event);
  void on_answer(Instant now, const AttemptEnded& event, ActionList& actions);
  void on_broken(Instant now, const AttemptEnded& event, ActionList& actions);
  bool finish_if_final(StatusMeaning meaning, const Evidence& evidence, ActionList& actions);

  void start_attempt(Instant now, ActionList& actions);
  void give_up_attempt(Ending why, ActionList& actions);
  bool watches_attempt() const;
  void retry_or_stop(Instant now, const Failure& failure, ActionList& actions);
  void stop(Stop why, ActionList& actions);
  void finish(Verdict verdict, Proof proof, Stop why, ActionList& actions);
  void finish_by_what_is_known(Stop why, ActionList& actions);

  AttemptState& state_of(AttemptNumber attempt);
  Instant started_at(AttemptNumber attempt) const;
  Evidence evidence_of_attempt(Ending ending, StatusMeaning meaning, bool nothing_written) const;
  void remember_last(AttemptNumber attempt, Ending ending, std::uint16_t status);
  bool every_attempt_did_nothing() const;
  bool listens() const;

  Dependency* dependency_;
  std::uint64_t seed_;  // For jitter and watching, mixed with the attempt's number.
  // The last Instant there is stands for one that never comes, in these three only: half the size of
  // optionals, and faster to read back.
  Instant deadline_ = Instant::max();
  Instant wakeup_ = Instant::max();     // Of the state: the running attempt's limit, or when to retry.
  Instant answer_by_ = Instant::max();  // Of the running attempt: its limit once it is connected.
  Duration delay_before_{};             // The last delay of backoff.
  std::uint32_t attempts_ = 0;
  AttemptNumber last_attempt_{};  // The last to end, 0 before.
  std::uint16_t last_status_ = 0;
  Ending last_ending_ = Ending::replied;
  CallKind kind_;
  State state_ = State::idle;
  Stop stop_ = Stop::deadline;  // While listening: why no more is sent.
  bool no_more_sends_ = false;  // The key belongs to another payload.
  std::array<AttemptState, kAttemptsMax> states_;
  // Without initial values, on purpose: 128 bytes that most calls use 8 of.
  std::array<Instant::rep, kAttemptsMax> started_at_ns_;
};
static_assert(sizeof(Operation) <= 256);

}  // namespace overdue
