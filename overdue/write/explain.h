#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/effect.h"
#include "overdue/base/result.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// What is known of the dependency when an observation is explained.
struct ExplainOptions {
  ErrorContract errors;
  WriteTerms terms;
  bool via_proxy = false;
};

// What one observation proves of a write, what it does not, and what a WriteLifecycle does next. Each is a
// sentence or two.
struct Explanation {
  std::string proves;
  std::string does_not_prove;
  std::string next;
};

// Explains "connection refused", "reset after send", "409 with key", "status not found" and the like;
// spelling is forgiving about case and small words. What it says is decided by evidence_of() and proof_of(),
// as in a lifecycle. Errors: invalid_argument for words that are none of these, with those that are.
Result<Explanation> explain(std::string_view observation, const ExplainOptions& options);

// One of each, for help and for tests.
std::vector<std::string_view> explained_observations();

}  // namespace overdue
