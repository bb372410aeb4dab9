#include "overdue/write/record_proof.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

struct Told {
  const char* name;
  RecordTold told;
  NotFound not_found = NotFound::proves_nothing;
  std::optional<Outcome> proved;
};

std::vector<Told> all_told() {
  using enum RecordSays;
  const Question reply{.kind = OnUnknown::retry}, status{.kind = OnUnknown::query},
      fence{.kind = OnUnknown::fence}, sealed_list{.kind = OnUnknown::list, .after_seal = true};
  const Outcome status_applied{EntryState::applied, Proof::status_applied},
      no{EntryState::rejected, Proof::recorded_rejection}, closed{EntryState::never, Proof::fenced},
      too_late{EntryState::never, Proof::limit_passed},
      not_listed{EntryState::never, Proof::sealed_and_not_listed};
  return {
      {.name = "status applied", .told = {.question = status, .says = applied}, .proved = status_applied},
      {.name = "status rejected", .told = {.question = status, .says = rejected}, .proved = no},
      {.name = "status fenced", .told = {.question = status, .says = fenced}, .proved = closed},
      {.name = "fenced", .told = {.question = fence, .says = fenced}, .proved = closed},
      {.name = "fence applied", .told = {.question = fence, .says = applied}, .proved = status_applied},
      {.name = "reply fenced", .told = {.question = reply, .says = fenced}, .proved = closed},
      {.name = "not found", .told = {.question = status, .says = absent}, .proved = {}},
      {.name = "not found, which fences",
       .told = {.question = status, .says = absent},
       .not_found = NotFound::fenced,
       .proved = closed},
      {.name = "not found, limit passed",
       .told = {.question = status, .says = absent, .limit_passed = true},
       .not_found = NotFound::after_limit,
       .proved = too_late},
      {.name = "reply: too late",
       .told = {.question = reply, .says = absent, .limit_passed = true},
       .not_found = NotFound::after_limit,
       .proved = too_late},
      {.name = "not listed after the seal",
       .told = {.question = sealed_list, .says = absent},
       .proved = not_listed},
  };
}

TEST(ProofOf, IsWhatTheRecordOfTheKeySays) {
  for (const Told& one : all_told())
    EXPECT_EQ(proof_of(one.told, {.not_found = one.not_found}), one.proved) << one.name;
}

// A record, a tombstone or a limit belongs to a key. Where no request carries one, it is nobody's.
TEST(ProofOf, OfAKeyThatNoRequestCarriesIsNone) {
  for (const Told& one : all_told())
    EXPECT_EQ(proof_of(one.told, {.not_found = one.not_found, .keyed = false}), std::nullopt) << one.name;
}

TEST(ProofOf, AListingGoesByOurIdAndNeedsNoKey) {
  const RecordTold listed{.question = {.kind = OnUnknown::list}, .says = RecordSays::applied};
  const Outcome applied{EntryState::applied, Proof::listed};
  EXPECT_EQ(proof_of(listed, {}), applied);
  EXPECT_EQ(proof_of(listed, {.keyed = false}), applied);
}

}  // namespace
}  // namespace overdue
