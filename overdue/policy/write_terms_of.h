#pragma once

#include "overdue/policy/policy.h"
#include "overdue/write/write_terms.h"

namespace overdue {

// What a WriteLifecycle needs of a dependency's tables. What a file does not say:
//     on_unknown       nothing: an unknown write goes to a person, unless a reply still comes
//     after_deadline   complete
//     not_found        proves nothing
//     expired          remembered
//     answer within    the request timeout, or the ceiling of an adaptive one, or 10 s
// Whether keys are honoured is whether there is a key_header.
WriteTerms write_terms_of(const DependencyPolicy& dependency);

}  // namespace overdue
