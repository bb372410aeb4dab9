#include <algorithm>

#include "overdue/recorded/envoy.h"
#include "overdue/recorded/route_text.h"

namespace overdue {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
bool number_or_dash(std::string_view text) {
  if (text == "-") return true;
  return all_digits(text.starts_with('-') ? text.substr(1) : text);
}

struct Token {
  std::string_view text;
  bool quoted = false;
};

// Tokens are separated by one blank; a quoted one may hold blanks, and \" in it is no end.
bool take_token(std::string_view& rest, Token& token) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.empty()) return false;
  if (rest.front() == '"') {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' && end + 1 < rest.size() ? 2 : 1;
    if (end >= rest.size()) return false;
    token = {rest.substr(1, end - 1), true};
    rest.remove_prefix(end + 1);
    return true;
  }
  const std::size_t end = std::min(rest.find(' '), rest.size());
  token = {rest.substr(0, end), false};
  rest.remove_prefix(end);
  return true;
}

}  // namespace

bool split_envoy_text(std::string_view line, EnvoyLine& out) {
  out = EnvoyLine{};
  if (!line.starts_with('[')) return false;
  const std::size_t close = line.find(']');
  // [2024-02-06T15:18:17.437Z]
  if (close == std::string_view::npos || close < 20 || close > 40 || line[5] != '-' || line[11] != 'T')
    return false;
  out.values[EnvoyLine::start_time] = line.substr(1, close - 1);
  std::string_view rest = line.substr(close + 1);
  Token token;
  if (!take_token(rest, token) || !token.quoted) return false;
  const std::size_t method_end = token.text.find(' ');
  const std::size_t protocol = token.text.rfind(' ');
  if (method_end == std::string_view::npos || protocol <= method_end) return false;
  out.values[EnvoyLine::method] = token.text.substr(0, method_end);
  out.values[EnvoyLine::path] = token.text.substr(method_end + 1, protocol - method_end - 1);
  if (!take_token(rest, token) || token.quoted || token.text.size() > 3 || !all_digits(token.text))
    return false;
  out.values[EnvoyLine::response_code] = token.text;
  if (!take_token(rest, token) || token.quoted) return false;
  out.values[EnvoyLine::response_flags] = token.text;
  // Then, in Istio's format, details, their reason and the transport's failure; then bytes received, bytes
  // sent, duration and service time.
  constexpr std::size_t kTokensMax = 32;
  std::array<Token, kTokensMax> tokens;
  std::size_t count = 0;
  while (count < kTokensMax && take_token(rest, tokens[count])) ++count;
  std::size_t bytes = 0;
  const auto number = [&](std::size_t at) { return !tokens[at].quoted && number_or_dash(tokens[at].text); };
  while (bytes + 4 < count && !(number(bytes) && tokens[bytes].text != "-" && number(bytes + 1) &&
                                number(bytes + 2) && number(bytes + 3) && tokens[bytes + 4].quoted)) {
    ++bytes;
  }
  if (bytes + 8 >= count || bytes > 8) return false;
  if (bytes > 0) out.values[EnvoyLine::response_code_details] = tokens[0].text;
  out.values[EnvoyLine::duration] = tokens[bytes + 2].text;
  out.values[EnvoyLine::service_time] = tokens[bytes + 3].text;
  out.values[EnvoyLine::authority] = tokens[bytes + 7].text;
  out.values[EnvoyLine::upstream_host] = tokens[bytes + 8].text;
  if (bytes + 9 < count) out.values[EnvoyLine::upstream_cluster] = tokens[bytes + 9].text;
  if (bytes + 14 < count) out.values[EnvoyLine::route_name] = tokens[bytes + 14].text;
  return true;
}

}  // namespace overdue
