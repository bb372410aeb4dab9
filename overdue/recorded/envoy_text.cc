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

// From the bracket to the service time; `rest` is what follows, from the quote of the caller's addresses on.
bool take_known_part(std::string_view line, EnvoyLine& out, std::string_view& rest) {
  if (!line.starts_with('[')) return false;
  const std::size_t close = line.find(']');
  // [2024-02-06T15:18:17.437Z]
  if (close == std::string_view::npos || close < 20 || close > 40 || line[5] != '-' || line[11] != 'T')
    return false;
  out.values[EnvoyLine::start_time] = line.substr(1, close - 1);
  rest = line.substr(close + 1);
  Token token;
  if (!take_token(rest, token) || !token.quoted) return false;
  const std::size_t method_end = token.text.find(' ');
  const std::size_t protocol = token.text.rfind(' ');
  if (method_end == std::string_view::npos || protocol <= method_end) return false;
  out.names_method = true;
  out.values[EnvoyLine::method] = token.text.substr(0, method_end);
  out.values[EnvoyLine::path] = token.text.substr(method_end + 1, protocol - method_end - 1);
  if (!take_token(rest, token) || token.quoted || token.text.size() > 3 || !all_digits(token.text))
    return false;
  out.values[EnvoyLine::response_code] = token.text;
  if (!take_token(rest, token) || token.quoted) return false;
  out.values[EnvoyLine::response_flags] = token.text;
  // Then, in Istio's format, details, their reason and the transport's failure; then bytes received, bytes
  // sent, duration and service time.
  constexpr std::size_t kTokensMax = 12;
  std::array<Token, kTokensMax> tokens;
  const auto number = [&](std::size_t at) { return !tokens[at].quoted && number_or_dash(tokens[at].text); };
  for (std::size_t count = 0; count < kTokensMax && take_token(rest, tokens[count]); ++count) {
    if (count < 3 || !rest.starts_with(" \"")) continue;
    const std::size_t bytes = count - 3;
    if (tokens[bytes].text == "-" || !number(bytes) || !number(bytes + 1) || !number(bytes + 2) ||
        !number(bytes + 3))
      continue;
    if (bytes > 0) out.values[EnvoyLine::response_code_details] = tokens[0].text;
    out.values[EnvoyLine::duration] = tokens[bytes + 2].text;
    out.values[EnvoyLine::service_time] = tokens[bytes + 3].text;
    rest.remove_prefix(1);
    return true;
  }
  return false;
}

constexpr std::size_t kPiecesMax = 64;

// What lies between the first quote and the last, split where one field ends and the next begins. 0: too
// many.
std::size_t split_quoted(std::string_view rest, std::array<std::string_view, kPiecesMax>& pieces) {
  constexpr std::string_view kBetween = "\" \"";
  const std::size_t last = rest.rfind('"');
  if (last == 0 || last == std::string_view::npos) return 0;
  std::string_view inner = rest.substr(1, last - 1);
  for (std::size_t count = 0; count < kPiecesMax;) {
    const std::size_t end = inner.find(kBetween);
    pieces[count++] = inner.substr(0, end);
    if (end == std::string_view::npos) return count;
    inner.remove_prefix(end + kBetween.size());
  }
  return 0;
}

// An address with a port, a socket's path, or the dash of no upstream.
bool may_be_host(std::string_view text) {
  if (text == "-" || text.starts_with('/')) return true;
  return text.find(' ') == std::string_view::npos && text.find(':') != std::string_view::npos;
}

// What stands behind the upstream's host in Istio's format.
void take_tail(std::string_view rest, EnvoyLine& out) {
  Token token;
  for (std::size_t count = 0; count < 6 && take_token(rest, token); ++count) {
    if (count == 0) out.values[EnvoyLine::upstream_cluster] = token.text;
    if (count == 5) out.values[EnvoyLine::route_name] = token.text;
  }
}

// A format with fewer fields in quotes: its fields are told apart as they come.
bool take_tokens(std::string_view rest, EnvoyLine& out) {
  std::array<Token, kEnvoyQuotedFields> tokens;
  for (Token& token : tokens) {
    if (!take_token(rest, token)) return false;
  }
  out.values[EnvoyLine::authority] = tokens[3].text;
  out.values[EnvoyLine::upstream_host] = tokens[4].text;
  take_tail(rest, out);
  return true;
}

}  // namespace

std::size_t envoy_quoted_fields(std::string_view line) {
  EnvoyLine fields;
  std::string_view rest;
  std::array<std::string_view, kPiecesMax> pieces;
  if (!take_known_part(line, fields, rest)) return 0;
  const std::size_t count = split_quoted(rest, pieces);
  return count < kEnvoyQuotedFields ? 0 : count;
}

EnvoyText split_envoy_text(std::string_view line, std::size_t quoted, EnvoyLine& out) {
  out = EnvoyLine{};
  std::string_view rest;
  if (!take_known_part(line, out, rest)) return EnvoyText::other;
  std::array<std::string_view, kPiecesMax> pieces;
  const std::size_t count = split_quoted(rest, pieces);
  if (count < kEnvoyQuotedFields) return take_tokens(rest, out) ? EnvoyText::read : EnvoyText::other;
  std::size_t place = kEnvoyQuotedFields - 1;
  if (count > quoted) place += count - quoted;
  std::string_view host = pieces[place];
  host = host.substr(0, host.find('"'));  // Where more in quotes follows what is not.
  if (count != kEnvoyQuotedFields && !may_be_host(host)) return EnvoyText::unsure;
  out.values[EnvoyLine::authority] = pieces[place - 1];
  out.values[EnvoyLine::upstream_host] = host;
  take_tail(rest.substr(static_cast<std::size_t>(host.data() + host.size() - rest.data()) + 1), out);
  return EnvoyText::read;
}

}  // namespace overdue
