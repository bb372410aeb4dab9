#include "overdue/fault/decision.h"

#include <gtest/gtest.h>

namespace overdue {
namespace {

int strikes(FaultSubject subject, std::uint64_t FaultSubject::* varied, Probability probability) {
  int count = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    subject.*varied = i;
    count += fault_strikes(subject, probability) ? 1 : 0;
  }
  return count;
}

// 475 is five standard errors of a share of 0.1.
TEST(FaultDecision, StrikesAsOftenAsItsProbabilityWhateverVaries) {
  for (auto varied :
       {&FaultSubject::seed, &FaultSubject::request_key, &FaultSubject::fault, &FaultSubject::attempt}) {
    const int count =
        strikes({.seed = 4, .request_key = 3, .fault = 2, .attempt = 1}, varied, Probability(0.1));
    EXPECT_NEAR(count, 10'000, 475);
  }
}

TEST(FaultDecision, NeverStrikesAtZeroAndAlwaysAtOne) {
  EXPECT_EQ(strikes({}, &FaultSubject::request_key, Probability(0.0)), 0);
  EXPECT_EQ(strikes({}, &FaultSubject::request_key, Probability(1.0)), 100'000);
}

// Pinned: the proxy and the simulator, built years apart, must agree.
TEST(FaultDecision, IsTheSameEverywhere) {
  EXPECT_NE(fault_bits({.seed = 1}), fault_bits({.request_key = 1}));
  EXPECT_EQ(fault_bits({1, 2, 3, 4}), 3705391937491829246U);
}

// One more strike at a higher probability, and none less.
TEST(FaultDecision, StrikesMoreAtAHigherProbabilityNeverOthers) {
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    const FaultSubject subject{.seed = 9, .request_key = key};
    if (fault_strikes(subject, Probability(0.2))) {
      EXPECT_TRUE(fault_strikes(subject, Probability(0.3)));
    }
  }
}

}  // namespace
}  // namespace overdue
