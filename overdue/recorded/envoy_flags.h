#pragma once

#include <optional>
#include <string_view>

#include "overdue/base/attempt.h"

namespace overdue {

// What Envoy's response flags say about how a call ended; a status alone does not tell an upstream's own 503
// from one Envoy made up. docs/formats/envoy.md has the table.
struct EnvoyFlags {
  std::optional<Ending> ending;  // Nothing: the status decides.
  std::string_view set_aside;    // Not empty: no call at all, and why.
};

// `flags`: "UT", "UF,URX", "-", "". Of several the one that says most decides.
EnvoyFlags judge_envoy_flags(std::string_view flags);

// Whether one of them is set for HTTP alone, and so for a call: others are set for TCP connections too.
bool has_flag_of_http(std::string_view flags);

}  // namespace overdue
