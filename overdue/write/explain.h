#pragma once

#include <string>
#include <string_view>

#include "overdue/base/result.h"
#include "overdue/call/call_policy.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// What is known of the dependency when an observation is explained.
struct ExplainOptions {
  CallPolicyOptions call;  // Its error contract and via_proxy among the rest.
  WriteTerms terms;
  bool has_contract = false;  // It comes from a policy, and not from what is usual.
};

// What one observation proves of a write, what it does not, and what an Operation and a WriteLifecycle do
// next. Each is a sentence or two.
struct Explanation {
  std::string proves;
  std::string does_not_prove;
  std::string next;
};

// Explains "connection refused", "reset after send", "409 with key", "status not found" and the like, spelled
// as people and systems spell them (explain_words.h). What it says is decided by evidence_of(), proof_of(),
// an Operation and a Reconciler, as in a lifecycle. Without "with key" or "without key" the attempt had a key
// where the terms have one. Errors: invalid_argument for words that are none of these, with what may be
// meant. Requires: options.call is one that CallPolicy::create() takes.
Result<Explanation> explain(std::string_view observation, const ExplainOptions& options);

}  // namespace overdue
