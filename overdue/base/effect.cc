#include "overdue/base/effect.h"

#include <initializer_list>
#include <optional>
#include <type_traits>

#include "overdue/base/check.h"

namespace overdue {
namespace {

constexpr Evidence kNothing{};
constexpr Evidence kThisAttemptDidNothing{Effect::did_not_happen, ProofScope::attempt};
constexpr Evidence kNeverUnderThisKey{Effect::did_not_happen, ProofScope::operation};
constexpr Evidence kHappened{Effect::happened, ProofScope::operation};

// One row of the table. What it does not say, any value fits; the first row that fits decides.
struct Row {
  std::optional<bool> nothing_written;
  std::optional<bool> answered;  // replied or rejected.
  std::optional<Ending> ending;
  std::optional<StatusMeaning> meaning;
  std::optional<bool> via_proxy;
  std::optional<bool> key_sent;
  Evidence evidence;
};

constexpr Row kTable[] = {
    // What never left cannot have happened, whoever stands between.
    {.nothing_written = true, .evidence = kThisAttemptDidNothing},
    {.ending = Ending::refused, .evidence = kThisAttemptDidNothing},
    // Once a byte is out, silence proves nothing.
    {.answered = false, .evidence = kNothing},
    {.meaning = StatusMeaning::success, .evidence = kHappened},
    // A no stored under the key is the answer to every attempt under it. Without a key it speaks of this
    // attempt alone, and behind a proxy this may have been a repetition of one that was executed.
    {.meaning = StatusMeaning::recorded_rejection, .key_sent = true, .evidence = kNeverUnderThisKey},
    {.meaning = StatusMeaning::recorded_rejection, .via_proxy = false, .evidence = kThisAttemptDidNothing},
    // A proxy may say it itself, or of its own second try.
    {.meaning = StatusMeaning::nothing_happened, .via_proxy = false, .evidence = kThisAttemptDidNothing},
    // Another attempt at work, another payload, an error in no list, an answer that is no success, and what
    // is left of the above.
    {.evidence = kNothing},
};

constexpr bool fits(const Row& row, const Observation& seen) {
  const bool answered = seen.ending == Ending::replied || seen.ending == Ending::rejected;
  return row.nothing_written.value_or(seen.nothing_written) == seen.nothing_written &&
         row.answered.value_or(answered) == answered && row.ending.value_or(seen.ending) == seen.ending &&
         row.meaning.value_or(seen.meaning) == seen.meaning &&
         row.via_proxy.value_or(seen.via_proxy) == seen.via_proxy &&
         row.key_sent.value_or(seen.key_sent) == seen.key_sent;
}

constexpr auto spelled_out() {
  std::remove_const_t<decltype(kEvidence)> answers;
  for (std::size_t index = 0; index < answers.size(); ++index) {
    const Observation seen{.ending = static_cast<Ending>(index / 8 / kStatusMeaningCount),
                           .meaning = static_cast<StatusMeaning>(index / 8 % kStatusMeaningCount),
                           .nothing_written = (index & 4) != 0,
                           .via_proxy = (index & 2) != 0,
                           .key_sent = (index & 1) != 0};
    for (const Row& row : kTable) {
      if (!fits(row, seen)) continue;
      answers[evidence_index(seen)] = row.evidence;
      break;
    }
  }
  return answers;
}

}  // namespace

constexpr decltype(kEvidence) kEvidence = spelled_out();

ErrorContract::ErrorContract() {
  meanings_.fill(StatusMeaning::other_answer);
  const auto set_all = [&](std::initializer_list<std::uint16_t> statuses, StatusMeaning meaning) {
    for (const std::uint16_t status : statuses) set(status, meaning);
  };
  for (std::uint16_t status = 200; status < 300; ++status) set(status, StatusMeaning::success);
  for (std::uint16_t status = 500; status < kStatusEnd; ++status) set(status, StatusMeaning::error);
  set_all({408, 425, 429}, StatusMeaning::error);
  set(0, StatusMeaning::success);
  // CANCELLED, UNKNOWN, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE, DATA_LOSS.
  set_all({1, 2, 4, 8, 10, 13, 14, 15}, StatusMeaning::error);
}

void ErrorContract::set(std::uint16_t status, StatusMeaning meaning) {
  OVERDUE_CHECK(status < kStatusEnd);
  meanings_[status] = meaning;
}

}  // namespace overdue
