#pragma once

#include <cstdint>
#include <initializer_list>

#include "overdue/base/probability.h"

namespace overdue {

// Whether a fault strikes is decided by what is struck and not by who asks first: a hash of the seed, the
// request's key, the fault and the attempt's number, in unsigned arithmetic. So two worlds agree on it, and
// one more fault or request changes nothing for the others.
//
// The mixing step is the finaliser of SplitMix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
// Generators", OOPSLA 2014), once for each of the four.
struct FaultSubject {
  std::uint64_t seed = 0;
  std::uint64_t request_key = 0;  // Equal for all attempts of one intent.
  std::uint64_t fault = 0;        // Which of the faults.
  std::uint64_t attempt = 0;      // Counted from 1; 0 for what is decided once a request or a run.
};

constexpr std::uint64_t fault_bits(const FaultSubject& subject) {
  constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  std::uint64_t bits = 0;
  for (const std::uint64_t part : {subject.seed, subject.request_key, subject.fault, subject.attempt}) {
    bits += part + kStep;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    bits ^= bits >> 31;
  }
  return bits;
}

// True with `probability`, to within 2^-40: never at 0, always at 1.
constexpr bool fault_strikes(const FaultSubject& subject, Probability probability) {
  // bits / 2^64 < parts / kScale, in whole numbers.
  __extension__ using Wide = unsigned __int128;
  const auto parts = static_cast<std::uint64_t>(probability.parts());
  return static_cast<std::uint64_t>(
             (static_cast<Wide>(fault_bits(subject)) * static_cast<std::uint64_t>(Probability::kScale)) >>
             64) < parts;
}

}  // namespace overdue
