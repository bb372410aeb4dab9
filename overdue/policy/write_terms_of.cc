#include "overdue/policy/write_terms_of.h"

namespace overdue {

WriteTerms write_terms_of(const DependencyPolicy& dependency) {
  const WritePolicy& write = dependency.write;
  WriteTerms terms;
  terms.on_unknown = write.on_unknown;
  terms.after_deadline = write.after_deadline.value_or(terms.after_deadline);
  terms.not_found = write.not_found.value_or(terms.not_found);
  terms.expired = write.expired.value_or(terms.expired);
  terms.keyed = write.key_header.has_value();
  const TimeoutPolicy& timeout = dependency.timeout;
  terms.answer_within = (timeout.adaptive ? timeout.ceiling : timeout.request).value_or(terms.answer_within);
  return terms;
}

}  // namespace overdue
