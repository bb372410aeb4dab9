#include "overdue/recorded/number_text.h"

namespace overdue {

std::optional<std::int64_t> decimal_scaled_slow(std::string_view text, unsigned power) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  // 30 significant digits are kept; what comes after only moves the exponent, and cannot change a rounded
  // value that fits 19 digits except by being exactly at a half, which a further digit would have to break
  // upwards.
  __extension__ using Wide = unsigned __int128;
  constexpr int kDigitsMax = 30;
  Wide value = 0;
  int kept = 0;
  int exponent = static_cast<int>(power);
  bool any = false;
  bool fraction = false;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    any = true;
    if (kept < kDigitsMax) {
      value = value * 10 + static_cast<unsigned>(c - '0');
      if (value != 0) ++kept;
      if (fraction) --exponent;
    } else if (!fraction) {
      ++exponent;
    }
    if (exponent < -100'000 || exponent > 100'000) return std::nullopt;
  }
  if (!any) return std::nullopt;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return std::nullopt;
    ++at;
    bool minus = false;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) minus = text[at++] == '-';
    if (at == text.size() || text.size() - at > 4) return std::nullopt;
    int written = 0;
    for (; at < text.size(); ++at) {
      if (text[at] < '0' || text[at] > '9') return std::nullopt;
      written = written * 10 + (text[at] - '0');
    }
    exponent += minus ? -written : written;
  }
  for (; exponent > 0 && value != 0; --exponent) {
    value *= 10;
    if (value > INT64_MAX) return std::nullopt;
  }
  if (exponent < -38) return 0;
  Wide divisor = 1;
  for (; exponent < 0; ++exponent) divisor *= 10;
  const Wide half = divisor / 2;
  const Wide rounded = value / divisor + (divisor > 1 && value % divisor >= half ? 1 : 0);
  if (rounded > INT64_MAX) return std::nullopt;
  const auto result = static_cast<std::int64_t>(rounded);
  return negative ? -result : result;
}

}  // namespace overdue
