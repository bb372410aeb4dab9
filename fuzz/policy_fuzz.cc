#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "overdue/base/check.h"
#include "overdue/policy/call_policy_of.h"
#include "overdue/policy/lint.h"
#include "overdue/policy/policy.h"

// Any bytes as a policy file: what is taken can be warned about, made into what an operation takes, printed
// and read back, and changed in place without a fault that was not there before.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = overdue::parse_policy(text, "fuzz");
  if (!policy) return 0;
  (void)overdue::lint_policy(*policy);
  const std::string printed = overdue::print_policy(*policy);
  const auto again = overdue::parse_policy(printed, "printed");
  OVERDUE_CHECK(again.has_value());
  OVERDUE_CHECK(overdue::print_policy(*again) == printed);
  for (const overdue::DependencyPolicy& one : policy->dependencies) {
    OVERDUE_CHECK(overdue::call_policy_of(one).has_value());
    const auto changed = overdue::with_setting(text, "fuzz", one.name, {"retry", "attempts", "2"});
    if (changed)
      OVERDUE_CHECK(overdue::parse_policy(*changed, "changed")->find(one.name)->retry.attempts == 2U);
  }
  return 0;
}
