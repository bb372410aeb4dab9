#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "overdue/base/time.h"

namespace overdue {

// Deadlines travel as durations (clocks of two machines differ): what remains, less a margin for the way, is
// what the next hop is told. Nothing here ever turns into 0, which many systems read as "no limit" (C29).

// What remains of a deadline; none where it has come: then fail now, without calling.
std::optional<Duration> remaining(Instant now, Instant deadline);

// A remaining time as an API takes it that knows only whole units. 300 ms in whole seconds is 1 s there; the
// caller still cuts at its own deadline.
// Requires: left > 0, unit > 0. Returns the units, rounded up, at least 1.
std::int64_t in_whole_units(Duration left, Duration unit);

// What a round trip cost beside the server's own time. `since_sent` counts from when the request was sent:
// the wait for a connection, and the making of one, are over by then and are no part of the way. Where the
// server says it took more than there was, the way took nothing.
inline Duration way_of(Duration since_sent, Duration server_time) {
  return std::max(since_sent - server_time, Duration(0));
}

// WayEstimate is the margin for the way, from the trips that were measured: smoothed mean plus four times the
// smoothed deviation (Jacobson 1988, RFC 6298), in integers, and no more than the longest trip so far: what
// is held back beyond that makes servers refuse work that would have been in time.
//
// The margin is never more than half of what remains: a burst of slow trips may shorten what the next hop is
// told, and can not stop calls from being made, which alone would bring better measurements.
//
// Threads: none. Replay: integers only.
class WayEstimate {
 public:
  // `estimate` holds until the first measurement. Requires: estimate >= 0.
  explicit WayEstimate(Duration estimate) : estimate_(estimate) {}

  // Requires: way >= 0, see way_of().
  void on_round_trip(Duration way);

  Duration margin() const;
  // What the next hop may be told; none where nothing remains.
  std::optional<Duration> allowance(Instant now, Instant answer_by) const;

 private:
  Duration estimate_;
  bool measured_ = false;
  Duration mean_{};
  Duration deviation_{};
  Duration longest_{};
};

// ServerGuard is the other end: it keeps one piece of work within the deadline that came with it. Work whose
// deadline has passed is refused before it starts and again before it commits; work that cannot be finished
// in time is shed on arrival (C34). Once try_commit() has said yes the effect may be there, and from then on
// "not executed" is never said, whatever the time (LIFECYCLE, mutant 36).
//
//     arrived --try_start--> started --try_commit--> committed
//         \------refused <------/
//
// Threads: none; the commit point is whatever follows a yes of try_commit(), in the same transaction.
class ServerGuard {
 public:
  enum class State : std::uint8_t { arrived, started, refused, committed };

  // No deadline: nothing is refused for its sake.
  explicit ServerGuard(std::optional<Instant> deadline) : deadline_(deadline) {}

  // On arrival: false, and refused, where even the earliest finish lies at or past the deadline.
  [[nodiscard]] bool try_admit(Instant earliest_finish);
  // Before the work: false, and refused, at or past the deadline.
  [[nodiscard]] bool try_start(Instant now);
  // Before the commit, likewise. Requires: started.
  [[nodiscard]] bool try_commit(Instant now);

  // Whether the caller may be told that nothing was done and nothing will be.
  bool may_say_not_executed() const { return state_ == State::refused; }
  State state() const { return state_; }

 private:
  bool refuse_if(bool late);

  std::optional<Instant> deadline_;
  State state_ = State::arrived;
};

}  // namespace overdue
