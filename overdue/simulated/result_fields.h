#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/simulated/run_result.h"

namespace overdue {

// One number of a run under the name an expectation uses for it: that of the JSON, with the names of clients,
// links, services and replicas in the path ("replicas.d.timeout_rate", "clients.web.calls.answered").
struct ResultField {
  std::string name;
  FieldUnit unit = FieldUnit::count;
  std::optional<double> value;
  // Without a value it is longer than any time: a quantile past all answers, a recovery that never came.
  bool missing_is_never = false;
  // Without a value there was nothing to judge: a recovery where no fault came.
  bool missing_is_fine = false;
};

// All of them but the timeline's; "writes." and "checker." only where there are writes. A result with the
// scenario's names and nothing else in it (empty_result_of()) gives all names.
std::vector<ResultField> fields_of(const RunResult& result);

// Fields made of the timeline's rows from `from_s` up to `to_s` (by default all): sums, the longest queue,
// and what is computed of them. Their names begin with "timeline.".
std::vector<ResultField> timeline_fields(const RunResult& result, std::optional<std::uint32_t> from_s,
                                         std::optional<std::uint32_t> to_s);

// Recovered is where at least this share of the calls of any so many seconds in a row is answered: one bad
// second by chance is no relapse.
inline constexpr double kRecoveredShare = 0.95;
inline constexpr std::size_t kRecoverySeconds = 5;

// Seconds from the end of the last fault to the first second from which on all is recovered. None: no fault
// came, or one does not end, or it never recovers.
std::optional<double> recovery_seconds(const RunResult& result);

// For people: "99.2 %", "12 ms", "1,204", "yes"; "never", "no fault came" or "none" where there is no value.
std::string shown_value(const ResultField& field);

}  // namespace overdue
