#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "overdue/base/time.h"
#include "overdue/write/outcome.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// Reconciler decides for one unknown write what to do next, when, and when to stop and ask a person.
//
// Which steps are used, of those the server offers and in the order of the policy:
//     complete   retry, query, list
//     settle     query, list
//     revoke     fence, query, list
// retry and fence (and a query that fences, where keys are deleted) only before the last send: past it the
// server may have forgotten the key, and would take them for something new. Once the key is known to be
// closed only a listing can tell, and is all that is asked. Steps take turns; after each without a proof the
// wait grows (WriteTerms::between_steps). Where no step is left a person is asked, with the reason.
//
// It ends: no wait is longer than between_steps.cap, whatever a server's Retry-After says, and past the last
// send no more than WriteTerms::steps_after_last_send_max steps are taken. Where the server enforces a limit
// of the write's own that is later (valid_until, not_found = after_limit) it waits for that, and as many may
// follow it: the first of them may prove it, the others leave room for a server whose clock is behind ours.
//
// Threads: none. Replay: equal terms, seed and calls give equal steps.
class Reconciler {
 public:
  struct Situation {
    bool last_send_passed = false;
    bool sealed = false;
    bool limit_passed = false;  // valid_until, by our own clock: when to ask, and proof of nothing.
  };
  struct Step {
    OnUnknown kind;
    Instant at;
  };

  // `terms` must outlive it.
  Reconciler(const WriteTerms& terms, std::uint64_t seed, std::optional<Instant> valid_until = std::nullopt)
      : terms_(&terms), seed_(seed), valid_until_(valid_until) {}

  // The next step, not before its time; or why there is none.
  std::variant<Step, PersonReason> next(const Situation& situation) const;

  // The step that next() gave was taken.
  void on_taken(const Situation& situation);
  // It brought no proof. Waits at least `retry_after`, where the server asked for it, but for the cap.
  void on_no_proof(Instant now, std::optional<Duration> retry_after);
  // Steps that brought no answer at all, in a row: for reports. Unreachable is not absent.
  void on_unreachable() { ++unreachable_in_a_row_; }
  void on_reached() { unreachable_in_a_row_ = 0; }
  std::uint32_t steps() const { return steps_; }
  std::uint32_t steps_after_last_send() const { return steps_after_last_send_; }
  std::uint32_t steps_after_both() const { return steps_after_both_; }  // That, and past valid_until.
  std::uint32_t unreachable_in_a_row() const { return unreachable_in_a_row_; }

 private:
  bool usable(OnUnknown step, const Situation& situation) const;
  std::optional<OnUnknown> pick(const Situation& situation) const;
  bool limit_may_tell(const Situation& situation) const;

  const WriteTerms* terms_;
  std::uint64_t seed_;
  std::optional<Instant> valid_until_;
  Instant at_{};  // Not before.
  Duration wait_before_{};
  std::uint32_t steps_ = 0;
  std::uint32_t steps_after_last_send_ = 0;
  std::uint32_t steps_after_both_ = 0;
  std::uint32_t unreachable_in_a_row_ = 0;
};

}  // namespace overdue
