#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/find_literal.h"
#include "overdue/recorded/nginx_format.h"

namespace overdue {

// The fields of an ordinary line, numbers already read. What the format does not have stays empty, or -1.
struct NginxQuickLine {
  std::array<std::string_view, kNginxKnownFields> texts;  // Times of day, request, uri, address.
  std::array<std::int32_t, kNginxKnownFields> numbers;    // Statuses as they are; times in milliseconds.

  NginxQuickLine() { numbers.fill(-1); }
  std::string_view text(NginxField field) const { return texts[static_cast<std::size_t>(field)]; }
  std::int32_t number(NginxField field) const { return numbers[static_cast<std::size_t>(field)]; }
};

// NginxQuick finds the fields of the lines that most of a log consists of: at most one upstream, statuses of
// three digits, times below ten seconds, no quote inside a value. It finds in them what NginxFormat would and
// reads the numbers on the way, in a fraction of the time; every other line it leaves to NginxFormat.
//
// Texts end where the first and the last character of the literal behind them are met, looked for at 32 or 64
// places at once; numbers have one width each, so that the literal behind them is only compared.
//
// Threads: const and shared.
class NginxQuick {
 public:
  // Nothing where the format is by labels or asks for variables of its own, where the end of one of its
  // variables is not told by the literal alone, or on a machine without SSE2.
  static std::optional<NginxQuick> create(const NginxFormat& format);

  // False where the line is no ordinary one, or not of this format; `out` means nothing then.
  // Requires: ChunkReader::kReadableAfter bytes after the line may be looked at.
  bool read(std::string_view line, NginxQuickLine& out) const;

 private:
  enum class Kind : std::uint8_t { status, seconds, time_local, one_upstream, text };
  struct alignas(16) Step {
    std::array<char, 16> firsts{};  // The literal's first and last characters, 16 times,
    std::array<char, 16> lasts{};   // as one register takes them.
    Literal literal;
    Kind kind = Kind::text;
    std::uint8_t slot = 0;
    bool is_long = false;          // More than 32 characters are usual.
    bool may_be_escaped = false;   // As in NginxFormat::Step.
    bool may_be_redirect = false;  // A list, ended by a blank: " : " does not end it.
  };
  static std::optional<Step> step_of(const NginxFormat::Step& step);
  template <unsigned kPlaces>
  static const char* find(const Step& step, const char* at, const char* end);
  static const char* end_of_text(const Step& step, const char* at, const char* end);
  static const char* end_of_upstream(const Step& step, const char* at, const char* end);

  std::string first_literal_;
  std::vector<Step> steps_;
};

}  // namespace overdue
