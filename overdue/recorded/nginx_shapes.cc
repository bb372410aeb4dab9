#include "overdue/recorded/nginx_shapes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "overdue/recorded/nginx_format.h"
#include "overdue/recorded/number_text.h"

namespace overdue {
namespace {

constexpr std::size_t kLinesLookedAt = 400;
constexpr std::size_t kFormatsMax = 4;

// What a token was seen to hold, over all lines of one shape.
enum Held : unsigned {
  kDash = 1,
  kSeconds = 2,  // With exactly three decimals, as nginx writes its times.
  kWhole = 4,
  kStatus = 8,
  kAddress = 16,
  kOther = 32,
  kList = 64,
  kEpoch = 128,
  kDecimals = 256,  // A number with a point and fewer decimals or more: $gzip_ratio has two.
  kName = 512,      // A word such as may name a group of servers.
};

struct Token {
  std::string before;  // The text before the value, its key and quote included.
  std::string key;
  std::string after;  // The closing quote or bracket.
  unsigned held = 0;
  std::int64_t sum_ns = 0;
  bool closed = false;  // In brackets or quotes.
};

struct Shape {
  bool has_prefix = false;
  std::string prefix;  // Of the log_format: up to and with the body bytes.
  std::vector<Token> tokens;
  std::size_t lines = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.' || is_digit(c);
}

unsigned held_by_element(std::string_view text) {
  if (text == "-") return kDash;
  const std::string_view number = text.starts_with('-') ? text.substr(1) : text;
  if (all_digits(number)) return text.size() == 3 && text[0] >= '1' && text[0] <= '5' ? kStatus : kWhole;
  const std::size_t point = number.find('.');
  if (point != std::string_view::npos && all_digits(number.substr(0, point)) &&
      all_digits(number.substr(point + 1))) {
    constexpr std::size_t kDecimalsOfTimes = 3;
    return point >= 10 ? kEpoch : number.size() - point - 1 == kDecimalsOfTimes ? kSeconds : kDecimals;
  }
  if (text.starts_with("unix:")) return kAddress;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && all_digits(text.substr(colon + 1)) && colon >= 1) return kAddress;
  return !text.empty() && std::ranges::all_of(text, is_key_character) ? kName : kOther;
}

// Splits by ", " and " : ".
unsigned held_by(std::string_view text) {
  unsigned held = 0;
  while (true) {
    const std::size_t end = std::min(text.find(", "), text.find(" : "));
    held |= held_by_element(text.substr(0, end));
    if (end == std::string_view::npos) return held;
    held |= kList;
    text.remove_prefix(end + (text[end] == ',' ? 2 : 3));
  }
}

struct Alias {
  std::string_view key;
  std::string_view variable;
  unsigned may_hold;   // All it holds must be of this,
  unsigned must_hold;  // and some of it of this.
};
// nginx names the group in place of an address where no server of it could be tried.
constexpr unsigned kAddresses = kDash | kAddress | kList | kName;
// Where a key says that it is a time, any number is believed.
constexpr unsigned kTimes = kDash | kSeconds | kDecimals | kWhole | kStatus | kList;
constexpr Alias kAliases[] = {
    {"rt", "request_time", kTimes, kSeconds | kDecimals},
    {"request_time", "request_time", kTimes, kSeconds | kDecimals},
    {"reqtime", "request_time", kTimes, kSeconds | kDecimals},
    {"req_time", "request_time", kTimes, kSeconds | kDecimals},
    {"urt", "upstream_response_time", kTimes, kTimes},
    {"ut", "upstream_response_time", kTimes, kTimes},
    {"upstream_response_time", "upstream_response_time", kTimes, kTimes},
    {"upstream_time", "upstream_response_time", kTimes, kTimes},
    {"apptime", "upstream_response_time", kTimes, kTimes},
    {"uct", "upstream_connect_time", kTimes, kTimes},
    {"upstream_connect_time", "upstream_connect_time", kTimes, kTimes},
    {"uht", "upstream_header_time", kTimes, kTimes},
    {"upstream_header_time", "upstream_header_time", kTimes, kTimes},
    {"us", "upstream_status", kDash | kStatus | kList, kDash | kStatus},
    {"upstream_status", "upstream_status", kDash | kStatus | kList, kDash | kStatus},
    {"ua", "upstream_addr", kDash | kList, kDash},
    {"ua", "upstream_addr", kAddresses, kAddress},
    {"us", "upstream_addr", kAddresses, kAddress},
    {"upstream", "upstream_addr", ~0U, kDash | kAddress},
    {"upstream_addr", "upstream_addr", ~0U, kDash | kAddress},
    {"st", "status", kStatus, kStatus},
    {"status", "status", kStatus, kStatus},
    {"ms", "msec", kEpoch, kEpoch},
    {"msec", "msec", kEpoch, kEpoch},
    {"request", "request", ~0U, ~0U},
    {"method", "request_method", kOther | kName, kOther | kName},
    {"uri", "request_uri", ~0U, ~0U},
};

std::string_view variable_of_key(std::string_view key, unsigned held) {
  for (const Alias& alias : kAliases) {
    if (alias.key == key && (held & ~alias.may_hold) == 0 && (held & alias.must_hold) != 0)
      return alias.variable;
  }
  return {};
}

bool is_separator(char c) { return c == ' ' || c == ',' || c == ';' || c == '|' || c == '\t'; }

// The length of a KEY= at the front, or 0.
std::size_t key_length(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_key_character(text[end])) ++end;
  return end > 0 && end < text.size() && !is_digit(text.front()) && text[end] == '=' ? end : 0;
}

// One token: KEY=VALUE, "VALUE", [VALUE] or VALUE. False where a quote is not closed.
bool take_token(std::string_view& rest, Token& token, std::string_view& value) {
  while (!rest.empty() && is_separator(rest.front())) {
    token.before += rest.front();
    rest.remove_prefix(1);
  }
  if (const std::size_t key_end = key_length(rest); key_end > 0) {
    token.key = rest.substr(0, key_end);
    token.before += rest.substr(0, key_end + 1);
    rest.remove_prefix(key_end + 1);
  }
  if (rest.starts_with('"') || rest.starts_with('[')) {
    const char close = rest.front() == '"' ? '"' : ']';
    token.before += rest.front();
    token.after = close;
    token.closed = true;
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != close) end += rest[end] == '\\' && end + 1 < rest.size() ? 2 : 1;
    if (end >= rest.size()) return false;
    value = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return true;
  }
  std::size_t end = 0;
  while (true) {
    while (end < rest.size() && !is_separator(rest[end])) ++end;
    if (rest.substr(end).starts_with(", ") && end + 2 < rest.size() && rest[end + 2] != '"' &&
        key_length(rest.substr(end + 2)) == 0) {
      end += 2;
    } else if (rest.substr(end).starts_with(" : ")) {
      end += 3;
    } else {
      break;
    }
  }
  value = rest.substr(0, end);
  rest.remove_prefix(end);
  return true;
}

// [06/Sep/2015:05:58:05 +0900] "GET / HTTP/1.1" 200 12, whatever stands before it.
bool take_prefix(std::string_view& rest, Shape& shape) {
  constexpr std::string_view kPattern = "[dd/aaa/dddd:dd:dd:dd +dddd] \"";
  std::size_t at = 0;
  while (true) {
    at = rest.find('[', at);
    if (at == std::string_view::npos || rest.size() - at < kPattern.size()) return false;
    bool fits = true;
    for (std::size_t i = 0; fits && i < kPattern.size(); ++i) {
      const char c = rest[at + i];
      fits = kPattern[i] == 'd' ? is_digit(c)
                                : kPattern[i] == 'a' || kPattern[i] == c || (kPattern[i] == '+' && c == '-');
    }
    if (fits) break;
    ++at;
  }
  if (at > 0 && rest[at - 1] != ' ') return false;
  shape.prefix = at > 0 ? "$before_time [$time_local] \"$request\" $status $body_bytes_sent"
                        : "[$time_local] \"$request\" $status $body_bytes_sent";
  shape.has_prefix = true;
  std::string_view after = rest.substr(at + kPattern.size());
  std::size_t end = 0;
  while (end < after.size() && after[end] != '"') end += after[end] == '\\' && end + 1 < after.size() ? 2 : 1;
  if (end >= after.size()) return false;
  after.remove_prefix(end + 1);
  // " 200 12"
  if (after.size() < 6 || after[0] != ' ' || !all_digits(after.substr(1, 3)) || after[4] != ' ') return false;
  after.remove_prefix(5);
  const std::size_t bytes = std::min(after.find(' '), after.size());
  if (after.substr(0, bytes) != "-" && !all_digits(after.substr(0, bytes))) return false;
  rest = after.substr(bytes);
  return true;
}

std::optional<Shape> shape_of(std::string_view line) {
  Shape shape;
  std::string_view rest = line;
  take_prefix(rest, shape);
  while (!rest.empty()) {
    Token token;
    std::string_view value;
    if (!take_token(rest, token, value) || shape.tokens.size() == 32) return std::nullopt;
    if (value.empty() && token.before.find_first_not_of(" ,;|\t") == std::string::npos && rest.empty()) break;
    token.held = held_by(value);
    if (token.held == kSeconds)
      token.sum_ns = duration_text(value, TimeUnit::seconds).value_or(Duration(0)).count();
    shape.tokens.push_back(std::move(token));
  }
  if (shape.has_prefix) return shape;
  // Without the usual prefix only keys say what is what.
  bool status = false;
  bool time = false;
  for (const Token& token : shape.tokens) {
    const std::string_view variable = variable_of_key(token.key, token.held);
    status = status || variable == "status";
    time = time || variable == "request_time" || variable == "upstream_response_time";
  }
  return status && time ? std::optional(shape) : std::nullopt;
}

std::string signature_of(const Shape& shape) {
  std::string signature = shape.prefix;
  for (const Token& token : shape.tokens) signature += token.before + "\1" + token.after;
  return signature;
}

// Names of the tokens: by key, by ingress-nginx's order, by what the unnamed ones hold.
std::vector<std::string> names_of(const Shape& shape) {
  const std::vector<Token>& tokens = shape.tokens;
  std::vector<std::string> names(tokens.size());
  const auto closed = [&](std::size_t i, char c) {
    return tokens[i].after == std::string(1, c) && tokens[i].key.empty();
  };
  // "$http_referer" "$http_user_agent" $request_length $request_time [$proxy_upstream_name]
  //     [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time
  //     $upstream_status $req_id
  if (shape.has_prefix && tokens.size() >= 9 && closed(0, '"') && closed(1, '"') && closed(4, ']')) {
    const std::size_t next = closed(5, ']') ? 6 : 5;
    if ((tokens.size() == next + 5 || tokens.size() == next + 4) && tokens[3].held == kSeconds) {
      names[3] = "request_time";
      names[next] = "upstream_addr";
      names[next + 1] = "upstream_response_length";
      names[next + 2] = "upstream_response_time";
      names[next + 3] = "upstream_status";
      return names;
    }
  }
  std::vector<std::size_t> unnamed;
  const auto taken = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view name = variable_of_key(tokens[i].key, tokens[i].held);
    if (!name.empty() && !taken(name)) names[i] = name;
    if (tokens[i].key.empty() && tokens[i].after != "]") unnamed.push_back(i);
  }
  // Unnamed numbers with three decimals: the greatest that is always there is the request's.
  std::optional<std::size_t> request_time;
  for (const std::size_t i : unnamed) {
    const Token& token = tokens[i];
    if ((token.held & ~(kSeconds)) != 0 || token.held == 0) continue;
    if (!request_time || token.sum_ns > tokens[*request_time].sum_ns) request_time = i;
  }
  if (request_time && !taken("request_time")) names[*request_time] = "request_time";
  for (const std::size_t i : unnamed) {
    const Token& token = tokens[i];
    if (!names[i].empty()) continue;
    const bool seconds = (token.held & kSeconds) != 0 && (token.held & ~(kSeconds | kDash | kList)) == 0;
    // A dash beside the request's time, where a time might have stood.
    const bool dash = token.held == kDash && request_time && !token.closed;
    const bool address = (token.held & kAddress) != 0 && (token.held & ~kAddresses) == 0;
    const bool status = (token.held & kStatus) != 0 && (token.held & ~(kStatus | kDash | kList)) == 0;
    if (seconds && !taken("upstream_response_time")) names[i] = "upstream_response_time";
    if (dash && !taken("upstream_response_time") && tokens.size() <= unnamed.size())
      names[i] = "upstream_response_time";
    if (address && !taken("upstream_addr") && i >= 2) names[i] = "upstream_addr";
    if (status && taken("upstream_addr") && !taken("upstream_status")) names[i] = "upstream_status";
  }
  return names;
}

std::string log_format_of(const Shape& shape, bool& has_times) {
  const std::vector<std::string> names = names_of(shape);
  std::string text = shape.prefix;
  has_times = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += shape.tokens[i].before;
    text += "${" + (names[i].empty() ? "other" + std::to_string(i) : names[i]) + "}";
    text += shape.tokens[i].after;
    has_times = has_times || names[i] == "request_time" || names[i] == "upstream_response_time";
  }
  return text;
}

// Tabs between "label:value", with a status or a time among the labels.
bool is_labelled(std::string_view line) {
  std::size_t fields = 0;
  bool known = false;
  while (!line.empty()) {
    const std::string_view part = line.substr(0, line.find('\t'));
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0 ||
        !std::all_of(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(colon), is_key_character)) {
      return false;
    }
    const std::string_view label = part.substr(0, colon);
    known = known || label == "status" || label == "reqtime" || label == "apptime" || label == "request_time";
    ++fields;
    line.remove_prefix(std::min(part.size() + 1, line.size()));
  }
  return fields >= 3 && known;
}

}  // namespace

bool is_nginx_error_line(std::string_view line) {
  constexpr std::string_view kPattern = "dddd/dd/dd dd:dd:dd [";
  if (line.size() < kPattern.size()) return false;
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    if (kPattern[i] == 'd' ? !is_digit(line[i]) : kPattern[i] != line[i]) return false;
  }
  return true;
}

NginxShapes nginx_shapes_of(std::string_view head) {
  NginxShapes found;
  std::map<std::string, Shape> shapes;
  std::size_t labelled = 0;
  while (!head.empty() && found.lines < kLinesLookedAt) {
    const std::size_t newline = std::min(head.find('\n'), head.size());
    std::string_view line = head.substr(0, newline);
    head.remove_prefix(std::min(newline + 1, head.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || is_nginx_error_line(line)) continue;
    ++found.lines;
    if (is_labelled(line)) {
      ++labelled;
      continue;
    }
    auto shape = shape_of(line);
    if (!shape) continue;
    ++found.recognised;
    auto [place, fresh] = shapes.try_emplace(signature_of(*shape), *shape);
    Shape& known = place->second;
    ++known.lines;
    if (fresh) continue;
    for (std::size_t i = 0; i < known.tokens.size(); ++i) {
      Token& token = known.tokens[i];
      token.held |= shape->tokens[i].held;
      token.sum_ns += std::min(shape->tokens[i].sum_ns, std::int64_t{1'000'000'000'000});
    }
  }
  if (labelled * 2 > found.lines) {
    found.labelled = true;
    found.recognised = found.with_times = labelled;
    return found;
  }
  std::vector<std::pair<std::size_t, std::string>> ordered;
  for (const auto& [signature, shape] : shapes) {
    bool has_times = false;
    std::string text = log_format_of(shape, has_times);
    if (!has_times) continue;
    found.with_times += shape.lines;
    ordered.emplace_back(shape.lines, std::move(text));
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (ordered.size() > kFormatsMax) ordered.resize(kFormatsMax);
  for (auto& [lines, text] : ordered) found.log_formats.push_back(std::move(text));
  return found;
}

}  // namespace overdue
