#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/recorded/find_literal.h"

namespace overdue {

// What the reader of nginx logs knows by name. Past `header_time` come the columns a user asked for.
enum class NginxField : std::uint8_t {
  skip,
  msec,
  time_iso8601,
  time_local,
  request,
  method,
  uri,
  status,
  request_time,
  upstream_addr,
  upstream_status,
  response_time,  // $upstream_response_time
  connect_time,   // $upstream_connect_time
  header_time,    // $upstream_header_time
};
inline constexpr std::size_t kNginxKnownFields = 14;
inline constexpr std::size_t kNginxAskedMax = 16;

// The fields of one line as they stand there, empty where the line has none.
struct NginxLine {
  std::array<std::string_view, kNginxKnownFields + kNginxAskedMax> values;

  bool may_have_lists = false;  // Of upstreams; if not, there is at most one.

  std::string_view operator[](NginxField field) const { return values[static_cast<std::size_t>(field)]; }
  std::string_view text(NginxField field) const { return (*this)[field]; }
};

// NginxFormat finds the fields of a line written by an nginx log_format, or by LTSV's labels.
//
// A format is literal texts with variables between them; a variable ends where the literal after it first
// begins. That is unambiguous wherever nginx escapes: a quote inside a value is written \x22 or \". Lists of
// upstreams
// ("a:80, b:80 : c:80") contain the space that usually ends them, so those variables are read by the list's
// grammar. Variables nobody needs are passed over together with the literals between them, where that is
// safe.
//
// Threads: const and shared after compile(). Errors: invalid_argument for a text that is no format.
class NginxFormat {
 public:
  // `log_format`: the string alone, several quoted pieces, or a whole directive as in nginx.conf. `asked`:
  // names of variables to keep beside the known ones.
  static Result<NginxFormat> compile(std::string_view log_format, const std::vector<std::string>& asked);
  // Lines of "label:value" joined by tabs, labels as ltsv.org and nginx name them, in any order.
  static NginxFormat labelled(const std::vector<std::string>& asked);

  // False where the line is not of this format. Bytes from the line's start to `readable_end` may be looked
  // at.
  bool split(std::string_view line, const char* readable_end, NginxLine& out) const;

  bool has(NginxField field) const { return present_[static_cast<std::size_t>(field)]; }
  // Where values[] holds the variable of this name, if the format has it.
  std::optional<std::size_t> slot_of(std::string_view variable) const;
  const std::string& text() const { return text_; }
  // Said by escape=json or escape=none; else nginx writes "-" for a variable without a value.
  bool writes_nothing_for_absent() const { return writes_nothing_; }

  // One variable and the literal behind it.
  struct Step {
    bool plain = false;     // Its literal ends it wherever it is met first.
    bool upstream = false;  // Its value may be a list.
    std::uint8_t slot = 0;
    std::uint8_t length_min = 0;  // $time_local holds a blank: its literal comes after that many bytes.
    bool request = false;         // Not in quotes: its literal comes after " HTTP/".
    bool list = false;            // Read by the grammar of upstream lists.
    bool may_be_escaped = false;  // The literal begins with a quote: one behind a backslash is not it.
    Literal literal;              // What follows the variable; empty: the rest of the line.
  };
  // Empty for a format by labels.
  const std::vector<Step>& steps() const { return steps_; }
  const std::string& first_literal() const { return first_literal_; }

 private:
  // Where the value of `step` that begins at `at` ends, or nullptr.
  static const char* end_of(const Step& step, const char* at, const char* end, const char* readable_end,
                            bool& lists);
  void add_variable(std::string_view name, const std::vector<std::string>& asked);
  void merge_skipped();
  bool split_labelled(std::string_view line, NginxLine& out) const;

  std::string text_;
  std::string first_literal_;
  std::vector<Step> steps_;
  std::vector<std::pair<std::string, std::uint8_t>> names_;  // Variable or label, and its slot.
  std::array<bool, kNginxKnownFields> present_{};
  bool escaped_ = true;
  bool writes_nothing_ = false;
  bool labelled_ = false;
};

// The field of a variable or label by nginx's name, or skip.
NginxField nginx_field_of(std::string_view variable);

}  // namespace overdue
