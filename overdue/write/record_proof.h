#pragma once

#include <optional>

#include "overdue/write/write_event.h"

namespace overdue {

// What an answer of the server's record proves of the whole write; nothing where it only permits to wait, ask
// again or send again. The one place where it is decided:
//
//     says                    where                             proves
//     applied                 reply, status, listing            applied
//     rejected                reply, status                     rejected
//     fenced                  reply, status, fence              never
//     absent                  status, where "not found" fences  never
//     absent, in flight       limit passed, at the primary,     never
//                             limit enforced at commit
//     absent from a listing   asked after the seal, primary,    never
//                             expired keys are remembered
//
// All but "applied" of a listing only where requests carry the key (WriteTerms::keyed): a record, a
// tombstone, an absence of a key that no request carries says nothing of any.
std::optional<Outcome> proof_of(const RecordTold& told, const WriteTerms& terms);

}  // namespace overdue
