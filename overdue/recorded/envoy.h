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

  std::string_view operator[](Field field) const { return values[field]; }
  // Nothing, "-" and JSON's null are no value.
  bool has(Field field) const { return !values[field].empty() && values[field] != "-"; }
};

// Envoy's default text format, Istio's (with details between flags and bytes), and what stands behind them.
// `line` begins with the bracket. False where it is no such line.
bool split_envoy_text(std::string_view line, EnvoyLine& out);

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
