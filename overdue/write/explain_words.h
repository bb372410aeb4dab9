#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "overdue/base/attempt.h"
#include "overdue/base/result.h"
#include "overdue/write/write_event.h"

namespace overdue {

// What people may say they saw of a write, and what is meant by it. Only words; what it proves is
// explain()'s.

// An attempt that ended without an answer.
struct SeenEnding {
  std::string_view name;
  Ending ending;
  bool nothing_written;
  std::string_view story;
};
// What the server's record of the key was said to be.
struct SeenRecord {
  std::string_view name;
  OnUnknown kind;
  RecordSays says;
  bool after_seal = false;
  bool limit_passed = false;
};
struct SeenStatus {
  std::uint16_t status;  // As ErrorContract knows it.
  bool grpc;
};
struct SeenCrash {};

struct Understood {
  std::variant<const SeenEnding*, const SeenRecord*, SeenStatus, SeenCrash> what;
  std::optional<bool> key_sent;  // Where the words say it.
};

// Case, punctuation and small words do not matter; what systems and libraries print for the same thing is
// understood too. Errors: invalid_argument, with the observation that may be meant, or else all there are.
Result<Understood> understand(std::string_view observation);

// One of each, for help and for tests.
std::vector<std::string_view> explained_observations();

}  // namespace overdue
