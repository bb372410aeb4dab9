#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "overdue/base/time.h"
#include "overdue/write/write_event.h"
#include "overdue/write/write_terms.h"

namespace overdue {

enum class RecordState : std::uint8_t { absent, in_flight, applied, rejected, fenced, expired };
inline constexpr std::array<std::string_view, 6> kRecordStateNames = {"absent",   "in_flight", "applied",
                                                                      "rejected", "fenced",    "expired"};

// What a request asks of its key's record. Times are the server's clock.
struct Claim {
  std::uint64_t epoch = 0;        // Of this worker: larger than any given out before, for any key.
  std::uint64_t fingerprint = 0;  // Of caller, route and bytes.
  Instant lease_until{};
  std::optional<Instant> valid_until;  // Nothing of the request may be done at or past it.
  std::optional<Instant> deadline;     // Its sender waits no longer than this.
};
enum class ClaimAnswer : std::uint8_t {
  run,            // Yours: do the work, commit under your epoch.
  in_flight,      // Another worker is at it: 409 with Retry-After.
  other_payload,  // The key belongs to other bytes: 422.
  replay,         // Answer as the first time: applied or rejected.
  fenced,
  expired,   // Never run.
  too_late,  // Past valid_until or the deadline: not executed.
};
enum class CommitAnswer : std::uint8_t {
  done,
  lost,      // Another worker has the key, or it was fenced or ended: do nothing, answer nothing definite.
  too_late,  // Not executed, and the key is free again.
};

// IdempotencyRecord is what a server keeps of one key (of one caller and route), and what every request,
// question and fence does to it. Whatever keeps it must do each call, and the effect beside a commit, in one
// transaction; then there is at most one effect under a key, and what is said of it stays true.
//
//     absent -> in_flight -> applied | rejected -> expired
//        |  <----- (abort) |
//        +------> fenced <-+ (its lease over)
//
// A lease that is over does not stop its worker: a second one may take over, and whoever commits first under
// the current epoch wins. An infrastructure error is an abort and never a record.
//
// Threads: none.
class IdempotencyRecord {
 public:
  ClaimAnswer claim(Instant now, const Claim& claim);
  // Requires: outcome is applied or rejected.
  CommitAnswer commit(Instant now, std::uint64_t epoch, RecordState outcome, std::string_view reply);
  // Frees the key, if it is still this worker's. Then the attempt may be answered as not executed.
  bool release(std::uint64_t epoch);
  // Writes a tombstone where nothing can have happened any more, and says what stands there now.
  RecordTold fence(Instant now);
  // Changes nothing. `valid_until` is the one the request carried, for a key that is not there.
  RecordTold status(Instant now, std::optional<Instant> valid_until) const;
  // Not of a key in flight. Deleting is safe only when every request and fence sent before the client's last
  // send is dead; remembered, the key stays closed for ever.
  void end_retention(ExpiredKeys expired);

  RecordState state() const { return state_; }
  const std::string& reply() const { return reply_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t fingerprint() const { return fingerprint_; }
  bool lease_over(Instant now) const { return now >= lease_until_; }
  Instant lease_until() const { return lease_until_; }

 private:
  RecordState state_ = RecordState::absent;
  std::uint64_t epoch_ = 0;
  std::uint64_t fingerprint_ = 0;
  Instant lease_until_{};
  std::optional<Instant> valid_until_, deadline_;
  std::string reply_;
};

}  // namespace overdue
