#include "overdue/write/record_proof.h"

namespace overdue {
namespace {

Proof proof_of_applied(OnUnknown kind) {
  switch (kind) {
    case OnUnknown::retry:
      return Proof::reply;
    case OnUnknown::query:
    case OnUnknown::fence:
      return Proof::status_applied;
    case OnUnknown::list:
      return Proof::listed;
  }
  return Proof::none;
}

}  // namespace

std::optional<Outcome> proof_of(const RecordTold& told, const WriteTerms& terms) {
  const OnUnknown kind = told.question.kind;
  // What is said of a key is said of no request of ours, where ours carry none. A listing goes by our id.
  if (!terms.keyed) {
    const bool listed = kind == OnUnknown::list && told.says == RecordSays::applied;
    return listed ? std::optional(Outcome{EntryState::applied, Proof::listed}) : std::nullopt;
  }
  if (told.says == RecordSays::applied) return Outcome{EntryState::applied, proof_of_applied(kind)};
  if (told.says == RecordSays::rejected && kind != OnUnknown::list)
    return Outcome{EntryState::rejected, Proof::recorded_rejection};
  if (told.says == RecordSays::fenced) return Outcome{EntryState::never, Proof::fenced};
  const bool absent = told.says == RecordSays::absent;
  if (!told.at_primary) return std::nullopt;  // A replica that lags has not heard of much.
  if (kind == OnUnknown::query && absent && terms.not_found == NotFound::fenced)
    return Outcome{EntryState::never, Proof::fenced};
  if ((absent || told.says == RecordSays::in_flight) && told.limit_passed &&
      terms.not_found == NotFound::after_limit)
    return Outcome{EntryState::never, Proof::limit_passed};
  // A key that is deleted is closed for as long as its record stands: what arrives after that is new.
  if (kind == OnUnknown::list && absent && told.question.after_seal &&
      terms.expired == ExpiredKeys::remembered)
    return Outcome{EntryState::never, Proof::sealed_and_not_listed};
  return std::nullopt;
}

}  // namespace overdue
