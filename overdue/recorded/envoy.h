#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/attempt.h"

namespace overdue {

// The fields of one Envoy access log line, as they stand there; null data where the line has none.
struct EnvoyLine {
  enum Field : unsigned {
    start_time,
    method,
    path,
    response_code,
    response_flags,
    duration,
    service_time,
    upstream_host,
    authority,
    upstream_cluster,
    route_name,
    response_code_details,
    known_fields,
  };
  static constexpr std::size_t kAskedMax = 16;
  std::array<std::string_view, known_fields + kAskedMax> values;
  bool names_method = false;  // Also where it has no value, as for a TCP connection.

  std::string_view operator[](Field field) const { return values[field]; }
  // Nothing, "-" and JSON's null are no value.
  bool has(Field field) const { return !values[field].empty() && values[field] != "-"; }
};

enum class EnvoyText {
  read,
  other,   // No such line.
  unsure,  // Quotes within its fields leave open which of them is the upstream's host.
};
inline constexpr std::size_t kEnvoyQuotedFields = 5;  // The caller's addresses to the upstream's host.

// Envoy's default text format, Istio's (with details between flags and bytes), and what stands behind them.
// `line` begins with the bracket. Envoy escapes nothing, and the caller's headers may hold quotes: where
// there are more fields in quotes than the `quoted` of the format, they are counted from the line's end.
EnvoyText split_envoy_text(std::string_view line, std::size_t quoted, EnvoyLine& out);

// How many fields in quotes stand behind the times of such a line: those of its format, or more where a value
// holds quotes. 0 where it is no such line, or has fewer than kEnvoyQuotedFields.
std::size_t envoy_quoted_fields(std::string_view line);

// EnvoyJson takes the fields of a JSON access log line, keys in any order, by their default names in Envoy,
// Istio and Envoy Gateway. Not shared between threads.
class EnvoyJson {
 public:
  // `asked`: further keys to keep, in values[known_fields + i].
  explicit EnvoyJson(const std::vector<std::string>& asked);
  ~EnvoyJson();
  EnvoyJson(const EnvoyJson&) = delete;
  EnvoyJson& operator=(const EnvoyJson&) = delete;

  // 64 bytes after `line` may be read. The values point into `line`; escapes in them stand as written.
  bool split(std::string_view line, EnvoyLine& out);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace overdue
