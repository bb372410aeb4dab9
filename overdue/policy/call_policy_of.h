#pragma once

#include "overdue/base/result.h"
#include "overdue/call/call_policy.h"
#include "overdue/policy/policy.h"

namespace overdue {

// What an Operation needs of a dependency's tables. What a file does not say:
//     attempts          1, no retry
//     backoff           25 ms doubled up to 1 s, full jitter
//     budget            a tenth of the calls and one a second, 10 s of it saved up; "none" for no limit
//     on                every failure that is safe to repeat
//     watch             100 %
//     window            5 m
//     request adaptive  begins at the ceiling, or at the promise where there is none
//     errors            ErrorContract's own meanings
// Errors: invalid_argument for a DependencyPolicy that parse_policy() cannot have made.
Result<CallPolicy> call_policy_of(const DependencyPolicy& dependency);

}  // namespace overdue
