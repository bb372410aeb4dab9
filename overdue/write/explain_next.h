#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "overdue/call/event.h"
#include "overdue/write/explain.h"

namespace overdue {

// How one attempt of a write ended.
struct AttemptSeen {
  Ending ending = Ending::timed_out;
  std::uint16_t status = 0;  // Where ending is replied or rejected.
  bool nothing_written = false;
};

// What an Operation makes of a write whose attempts all end the same way. Found out by running one: what is
// explained and what is done cannot differ.
struct Course {
  std::uint32_t attempts = 1;  // In all.
  bool listens = false;        // To the deadline, for a reply to what it gave up.
  Verdict verdict = Verdict::unknown;
};
Course course_of(const AttemptSeen& seen, const ExplainOptions& options);

// What the Operation does after an attempt that proved nothing, until its caller is answered: "waits and
// sends ...; at the deadline ...". No full stop.
std::string until_answered(const AttemptSeen& seen, const ExplainOptions& options);
// What the reconciler does from then on: "asks for the key's status, then ...", in the order in which it
// takes its steps; found out by asking one.
std::string once_unknown(const ExplainOptions& options);
// What those steps make of a Retry-After: they begin without the one that the attempts were told. A sentence
// after a space; empty where no step is taken.
std::string retry_after_of_steps(const ExplainOptions& options);

}  // namespace overdue
