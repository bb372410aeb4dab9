#include "overdue/write/reconciler.h"

#include <algorithm>

#include "overdue/base/random.h"

namespace overdue {
namespace {

bool in_plan(AfterDeadline plan, OnUnknown step) {
  switch (step) {
    case OnUnknown::retry:
      return plan == AfterDeadline::complete;
    case OnUnknown::fence:
      return plan == AfterDeadline::revoke;
    case OnUnknown::query:
    case OnUnknown::list:
      return true;
  }
  return false;
}

}  // namespace

bool Reconciler::usable(OnUnknown step, const Situation& situation) const {
  if (situation.sealed) return step == OnUnknown::list;
  // A status that fences writes a tombstone too: over a record that was deleted it would stand for nothing.
  const bool fences =
      step == OnUnknown::fence || (step == OnUnknown::query && terms_->not_found == NotFound::fenced &&
                                   terms_->expired == ExpiredKeys::deleted);
  const bool changes = step == OnUnknown::retry || fences;
  if (changes && situation.last_send_passed) return false;
  // Sent again without a key it is a second effect, as like as not; and the key that is asked for or fenced
  // is none of its requests'.
  if (step != OnUnknown::list && !terms_->keyed) return false;
  return in_plan(terms_->after_deadline, step);
}

std::optional<OnUnknown> Reconciler::pick(const Situation& situation) const {
  const auto fits = [&](OnUnknown step) { return usable(step, situation); };
  const auto count = static_cast<std::uint32_t>(std::ranges::count_if(terms_->on_unknown, fits));
  if (count == 0) return std::nullopt;
  std::uint32_t turn = steps_ % count;
  for (const OnUnknown step : terms_->on_unknown) {
    if (fits(step) && turn-- == 0) return step;
  }
  return std::nullopt;
}

// Only a status read past the limit can say that it has passed. Where keys are deleted one that is asked past
// the last send is believed no more, for it may find nothing where a record stood.
bool Reconciler::limit_may_tell(const Situation& situation) const {
  return valid_until_ && terms_->not_found == NotFound::after_limit &&
         terms_->expired == ExpiredKeys::remembered && terms_->offers(OnUnknown::query) &&
         usable(OnUnknown::query, situation);
}

std::variant<Reconciler::Step, PersonReason> Reconciler::next(const Situation& situation) const {
  const std::optional<OnUnknown> step = pick(situation);
  const auto spent = [&](std::uint32_t steps) { return steps >= terms_->steps_after_last_send_max; };
  if (step && !(situation.last_send_passed && spent(steps_after_last_send_)))
    return Step{.kind = *step, .at = at_};
  if (step && limit_may_tell(situation) && !spent(steps_after_both_))
    return Step{.kind = *step, .at = std::max(at_, *valid_until_)};
  if (situation.sealed) return PersonReason::key_expired;
  return situation.last_send_passed && !terms_->on_unknown.empty() ? PersonReason::last_send_passed
                                                                   : PersonReason::nothing_offered;
}

void Reconciler::on_taken(const Situation& situation) {
  ++steps_;
  if (!situation.last_send_passed) return;
  ++steps_after_last_send_;
  if (situation.limit_passed) ++steps_after_both_;
}

void Reconciler::on_no_proof(Instant now, std::optional<Duration> retry_after) {
  Random random(seed_, steps_);
  const Backoff& backoff = terms_->between_steps;
  wait_before_ = backoff.delay_before(std::max(steps_, 1U), std::max(wait_before_, backoff.base), random);
  const Duration asked = std::min(retry_after.value_or(Duration(0)), backoff.cap);
  at_ = saturating_add(now, std::max(wait_before_, asked));
}

}  // namespace overdue
