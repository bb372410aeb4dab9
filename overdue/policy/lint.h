#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overdue/policy/policy.h"

namespace overdue {

// What a valid policy file may still be warned about: it can be meant, and it hurts.
struct PolicyWarning {
  // Of the key it is about, or of its table, 1-based; 0 for a policy that was not read from a file.
  std::uint32_t line = 0;
  std::string text;  // "dependency.orders.retry: ...", with what would be right.
};

// In the order of their lines. The rule of field case C31 among them: attempts times request plus the waits
// between them fit the promise.
std::vector<PolicyWarning> lint_policy(const Policy& policy);

}  // namespace overdue
