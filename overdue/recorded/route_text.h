#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace overdue {

// RouteText turns the path of a request into the name of its route: the query is cut, and a segment that is a
// number or looks like an id becomes ":id", so that /orders/1234 and /orders/5678 are one route.
//
// Id-like: all digits; or hexadecimal digits and dashes, at least 8, with a digit (hashes, UUIDs); or at
// least 16 letters, digits, '-' and '_' with at least 4 digits. Threads: none. The answer is valid until the
// next call. Paths are cut after kLengthMax bytes.
class RouteText {
 public:
  static constexpr std::size_t kLengthMax = 256;

  // `target`: as in a request line; "http://host/path" loses its host.
  std::string_view of(std::string_view target);
  // The same where bytes up to `readable_end` may be looked at: a short path whose only digits are whole
  // segments, as almost all are, is then taken 16 bytes at a time.
  std::string_view of(std::string_view target, const char* readable_end);
  // The same for what without_query() returned.
  std::string_view of_path(std::string_view path);
  static std::string_view without_query(std::string_view target);

 private:
  std::string_view short_path(std::string_view path, std::uint64_t digits, std::uint64_t slashes);

  std::array<char, 3 * kLengthMax> buffer_{};  // A one-digit segment grows to three characters.
};

// "GET /path HTTP/1.1" into its method and target; both empty where it is no request line ("-", binary
// rubbish). Blanks inside the target belong to it.
struct RequestLine {
  std::string_view method;
  std::string_view target;
};
RequestLine split_request(std::string_view request);

}  // namespace overdue
