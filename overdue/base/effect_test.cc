#include "overdue/base/effect.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace overdue {
namespace {

constexpr Evidence kNothing{Effect::unknown, ProofScope::nothing};
constexpr Evidence kAttemptDidNothing{Effect::did_not_happen, ProofScope::attempt};
constexpr Evidence kOperationDidNothing{Effect::did_not_happen, ProofScope::operation};
constexpr Evidence kHappened{Effect::happened, ProofScope::operation};

struct Case {
  std::string name;
  Observation seen;
  Evidence evidence;
};

TEST(EvidenceOf, SaysOfEachObservationJustWhatItProves) {
  using enum Ending;
  using enum StatusMeaning;
  const std::vector<Case> cases = {
      {"a success happened", {replied, success}, kHappened},
      {"a success through a proxy too",
       {.ending = replied, .meaning = success, .via_proxy = true},
       kHappened},
      {"our own refused connect never sent", {refused}, kAttemptDidNothing},
      {"to a proxy as well", {.ending = refused, .via_proxy = true}, kAttemptDidNothing},
      {"reset before the first byte", {.ending = reset, .nothing_written = true}, kAttemptDidNothing},
      {"the same to a proxy",
       {.ending = reset, .nothing_written = true, .via_proxy = true},
       kAttemptDidNothing},
      {"timed out while connecting", {.ending = timed_out, .nothing_written = true}, kAttemptDidNothing},
      {"left while connecting", {.ending = abandoned, .nothing_written = true}, kAttemptDidNothing},
      {"reset after the first byte", {reset}, kNothing},
      {"timed out after it", {timed_out}, kNothing},
      {"left after it", {abandoned}, kNothing},
      {"reset through a proxy", {.ending = reset, .via_proxy = true}, kNothing},
      {"reset under a key", {.ending = reset, .key_sent = true}, kNothing},
      {"turned away, direct", {rejected, nothing_happened}, kAttemptDidNothing},
      {"turned away through a proxy",
       {.ending = rejected, .meaning = nothing_happened, .via_proxy = true},
       kNothing},
      {"turned away under a key, of this attempt only",
       {.ending = rejected, .meaning = nothing_happened, .key_sent = true},
       kAttemptDidNothing},
      {"a recorded no under its key",
       {.ending = rejected, .meaning = recorded_rejection, .key_sent = true},
       kOperationDidNothing},
      {"through a proxy the record still holds",
       {.ending = rejected, .meaning = recorded_rejection, .via_proxy = true, .key_sent = true},
       kOperationDidNothing},
      {"a no without a key, direct", {rejected, recorded_rejection}, kAttemptDidNothing},
      {"a no without a key through a proxy",
       {.ending = rejected, .meaning = recorded_rejection, .via_proxy = true},
       kNothing},
      {"409 under a key proves nothing by itself",
       {.ending = rejected, .meaning = in_flight, .key_sent = true},
       kNothing},
      {"409 without a key", {rejected, in_flight}, kNothing},
      {"422 for another payload", {.ending = rejected, .meaning = other_payload, .key_sent = true}, kNothing},
      {"a 500 in no list", {rejected, error}, kNothing},
      {"a 503 through a proxy", {.ending = rejected, .meaning = error, .via_proxy = true}, kNothing},
      {"a 404 in no list", {replied, other_answer}, kNothing},
      {"an early answer to a request that was not written",
       {.ending = rejected, .meaning = error, .nothing_written = true},
       kAttemptDidNothing},
  };
  for (const Case& one : cases) EXPECT_EQ(evidence_of(one.seen), one.evidence) << one.name;
}

// Every observation there is.
std::vector<Observation> all_observations() {
  std::vector<Observation> all;
  for (std::size_t ending = 0; ending < kEndingCount; ++ending) {
    for (std::size_t meaning = 0; meaning < kStatusMeaningCount; ++meaning) {
      for (unsigned flags = 0; flags < 8; ++flags) {
        all.push_back({.ending = static_cast<Ending>(ending),
                       .meaning = static_cast<StatusMeaning>(meaning),
                       .nothing_written = (flags & 1) != 0,
                       .via_proxy = (flags & 2) != 0,
                       .key_sent = (flags & 4) != 0});
      }
    }
  }
  return all;
}

TEST(EvidenceOf, BehindAProxyOnlyWhatNeverLeftOrARecordProvesThatNothingHappened) {
  for (const Observation& seen : all_observations()) {
    if (!seen.via_proxy || evidence_of(seen).effect != Effect::did_not_happen) continue;
    const bool record =
        seen.ending <= Ending::rejected && seen.meaning == StatusMeaning::recorded_rejection && seen.key_sent;
    EXPECT_TRUE(seen.nothing_written || seen.ending == Ending::refused || record);
  }
}

TEST(EvidenceOf, SilenceAfterTheFirstByteProvesNothingWhateverElseIsSaid) {
  for (const Observation& seen : all_observations()) {
    const bool silent =
        seen.ending == Ending::reset || seen.ending == Ending::timed_out || seen.ending == Ending::abandoned;
    if (silent && !seen.nothing_written) {
      EXPECT_EQ(evidence_of(seen), kNothing);
    }
  }
}

TEST(EvidenceOf, OnlyASuccessProvesThatItHappened) {
  for (const Observation& seen : all_observations()) {
    if (evidence_of(seen).effect != Effect::happened) continue;
    EXPECT_EQ(seen.meaning, StatusMeaning::success);
    EXPECT_TRUE(seen.ending == Ending::replied || seen.ending == Ending::rejected);
    EXPECT_FALSE(seen.nothing_written);
  }
}

TEST(ErrorContract, HasAMeaningForEveryStatusWithoutAnyList) {
  const ErrorContract contract;
  EXPECT_EQ(contract.meaning_of(200), StatusMeaning::success);
  EXPECT_EQ(contract.meaning_of(299), StatusMeaning::success);
  EXPECT_EQ(contract.meaning_of(300), StatusMeaning::other_answer);
  EXPECT_EQ(contract.meaning_of(404), StatusMeaning::other_answer);
  EXPECT_EQ(contract.meaning_of(408), StatusMeaning::error);
  EXPECT_EQ(contract.meaning_of(429), StatusMeaning::error);
  EXPECT_EQ(contract.meaning_of(500), StatusMeaning::error);
  EXPECT_EQ(contract.meaning_of(599), StatusMeaning::error);
  EXPECT_EQ(contract.meaning_of(600), StatusMeaning::error) << "no status: nothing is known";
  EXPECT_EQ(contract.meaning_of(0), StatusMeaning::success) << "gRPC OK";
  EXPECT_EQ(contract.meaning_of(5), StatusMeaning::other_answer) << "gRPC NOT_FOUND";
  EXPECT_EQ(contract.meaning_of(14), StatusMeaning::error) << "gRPC UNAVAILABLE";
}

TEST(ErrorContract, TakesAListedMeaningInsteadOfItsOwn) {
  ErrorContract contract;
  contract.set(429, StatusMeaning::nothing_happened);
  EXPECT_EQ(contract.meaning_of(429), StatusMeaning::nothing_happened);
  EXPECT_EQ(contract.meaning_of(428), StatusMeaning::other_answer);
}

}  // namespace
}  // namespace overdue
