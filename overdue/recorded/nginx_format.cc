#include "overdue/recorded/nginx_format.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <fmt/format.h>

namespace overdue {
namespace {

struct KnownName {
  std::string_view name;
  NginxField field;
};
constexpr KnownName kVariables[] = {
    {"msec", NginxField::msec},
    {"time_iso8601", NginxField::time_iso8601},
    {"time_local", NginxField::time_local},
    {"request", NginxField::request},
    {"request_method", NginxField::method},
    {"request_uri", NginxField::uri},
    {"uri", NginxField::uri},
    {"document_uri", NginxField::uri},
    {"status", NginxField::status},
    {"request_time", NginxField::request_time},
    {"upstream_addr", NginxField::upstream_addr},
    {"upstream_status", NginxField::upstream_status},
    {"upstream_response_time", NginxField::response_time},
    {"upstream_connect_time", NginxField::connect_time},
    {"upstream_header_time", NginxField::header_time},
};
// Labels of ltsv.org and of the tools that read them; the variables' own names are labels too.
constexpr KnownName kLabels[] = {
    {"time", NginxField::time_local},
    {"req", NginxField::request},
    {"method", NginxField::method},
    {"reqtime", NginxField::request_time},
    {"apptime", NginxField::response_time},
    {"upstream", NginxField::upstream_addr},
    {"connecttime", NginxField::connect_time},
};

constexpr std::string_view kCombined =
    R"($remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent")";

constexpr std::uint8_t kTimeLocalLength = 26;  // 06/Sep/2015:05:58:05 +0900

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// nginx reads \t as a tab, in quotes or not.
std::string with_tabs(std::string_view text) {
  std::string read;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      read += text[at];
      continue;
    }
    ++at;
    if (text[at] != 't') read += '\\';
    read += text[at] == 't' ? '\t' : text[at];
  }
  return read;
}

// Blanks, and comments from a '#' where a word might begin to the end of its line.
std::string_view without_comments(std::string_view text) {
  for (text = trimmed(text); text.starts_with('#'); text = trimmed(text))
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  return text;
}

// The next word of an nginx.conf directive: quoted with backslash escapes, or up to a space or semicolon.
Result<std::string> take_word(std::string_view& rest) {
  std::string word;
  const char quote = rest.front();
  if (quote != '\'' && quote != '"') {
    while (!rest.empty() && !is_space(rest.front()) && rest.front() != ';') {
      word += rest.front();
      rest.remove_prefix(1);
    }
    return with_tabs(word);
  }
  rest.remove_prefix(1);
  while (!rest.empty() && rest.front() != quote) {
    if (rest.front() == '\\' && rest.size() >= 2) {
      const char next = rest[1];
      if (next == 't' || next == 'n' || next == 'r') {
        word += next == 't' ? '\t' : next == 'n' ? '\n' : '\r';
      } else if (next == quote || next == '\\') {
        word += next;
      } else {
        word += '\\';
        word += next;
      }
      rest.remove_prefix(2);
      continue;
    }
    word += rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty())
    return fail(ErrorCode::invalid_argument, fmt::format("log_format: a {} is not closed", quote));
  rest.remove_prefix(1);
  return word;
}

struct Directive {
  std::string text;
  bool escaped = true;
  bool writes_nothing = false;  // For a variable without a value.
};

// The string alone is taken as it stands; quoted pieces and directives are put together as nginx would.
Result<Directive> read_directive(std::string_view given) {
  Directive directive;
  std::string_view rest = without_comments(given);
  const bool whole = rest.starts_with("log_format") && rest.size() > 10 && is_space(rest[10]);
  if (!whole && !rest.starts_with('\'') && !rest.starts_with("escape=")) {
    directive.text = trimmed(given) == "combined" ? kCombined : with_tabs(given);
    while (directive.text.ends_with('\n') || directive.text.ends_with('\r')) directive.text.pop_back();
    return directive;
  }
  if (whole) {
    rest = without_comments(rest.substr(10));
    if (rest.empty()) return fail(ErrorCode::invalid_argument, "log_format: nothing follows the directive");
    if (auto name = take_word(rest); !name) return std::unexpected(name.error());
  }
  for (rest = without_comments(rest); !rest.empty() && rest.front() != ';'; rest = without_comments(rest)) {
    auto word = take_word(rest);
    if (!word) return std::unexpected(word.error());
    if (directive.text.empty() && word->starts_with("escape=")) {
      directive.escaped = *word != "escape=none";
      directive.writes_nothing = *word != "escape=default";
    } else {
      directive.text += *word;
    }
  }
  return directive;
}

// The end of an upstream list: elements without a space, joined by ", " or " : ".
const char* end_of_list(const char* at, const char* end) {
  while (true) {
    while (at < end && *at != ' ' && *at != ',') ++at;
    if (end - at > 2 && at[0] == ',' && at[1] == ' ') {
      at += 2;
    } else if (end - at > 3 && at[0] == ' ' && at[1] == ':' && at[2] == ' ') {
      at += 3;
    } else {
      return at;
    }
  }
}

// Every separator of a list has a blank. Almost all values are short: 16 bytes are looked at at once.
bool has_separator(const char* at, const char* end, const char* readable_end) {
#if defined(__SSE2__)
  if (end - at <= 16 && readable_end - at >= 16) {
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto blanks = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(text, _mm_set1_epi8(' '))));
    return (blanks & ((1U << (end - at)) - 1)) != 0;
  }
#else
  (void)readable_end;
#endif
  return at != end && std::memchr(at, ' ', static_cast<std::size_t>(end - at)) != nullptr;
}

bool is_redirect(const char* at, const char* end) {
  return end - at >= 3 && at[0] == ' ' && at[1] == ':' && at[2] == ' ';
}

bool is_list_field(NginxField field) { return field >= NginxField::upstream_addr; }

bool behind_odd_backslashes(const char* begin, const char* at) {
  bool odd = false;
  while (at > begin && at[-1] == '\\') {
    odd = !odd;
    --at;
  }
  return odd;
}

}  // namespace

NginxField nginx_field_of(std::string_view variable) {
  for (const KnownName& known : kVariables) {
    if (known.name == variable) return known.field;
  }
  return NginxField::skip;
}

void NginxFormat::add_variable(std::string_view name, const std::vector<std::string>& asked) {
  Step step;
  const NginxField field = nginx_field_of(name);
  step.upstream = is_list_field(field) || name.starts_with("upstream_");
  if (field != NginxField::skip && !has(field)) {
    step.slot = static_cast<std::uint8_t>(field);
    present_[step.slot] = true;
  }
  const auto place = std::find(asked.begin(), asked.end(), name);
  if (step.slot == 0 && place != asked.end() && !slot_of(name)) {
    const auto index = static_cast<std::size_t>(place - asked.begin());
    if (index < kNginxAskedMax) step.slot = static_cast<std::uint8_t>(kNginxKnownFields + index);
  }
  if (step.slot != 0) names_.emplace_back(name, step.slot);
  if (!steps_.empty() && steps_.back().literal.empty()) {
    // Two variables with nothing between them cannot be told apart: one value, known by the one we need more
    // ($host$request_uri is a uri with a host before it).
    if (steps_.back().slot == 0) steps_.back().slot = step.slot;
    steps_.back().upstream = false;
    return;
  }
  steps_.push_back(std::move(step));
}

// A skipped variable, its literal and the skipped variable after it become one, where the second literal
// cannot be met earlier: it begins with a quote, which no value contains unescaped, and is not part of what
// lies between.
void NginxFormat::merge_skipped() {
  std::vector<Step> merged;
  std::string between;
  for (Step& step : steps_) {
    const bool can = escaped_ && !merged.empty() && merged.back().slot == 0 && step.slot == 0 &&
                     !step.upstream && !merged.back().upstream && step.literal.size() >= 2 &&
                     step.literal.text().front() == '"';
    if (can) {
      between += merged.back().literal.text();
      between += '\1';  // Where the value stands.
      const std::string with_next = between + step.literal.text();
      if (with_next.find(step.literal.text()) == between.size()) {
        merged.back() = std::move(step);
        continue;
      }
    }
    between.clear();
    merged.push_back(std::move(step));
  }
  steps_ = std::move(merged);
}

Result<NginxFormat> NginxFormat::compile(std::string_view log_format, const std::vector<std::string>& asked) {
  auto directive = read_directive(log_format);
  if (!directive) return std::unexpected(directive.error());
  NginxFormat format;
  format.text_ = directive->text;
  format.escaped_ = directive->escaped;
  format.writes_nothing_ = directive->writes_nothing;
  std::string_view rest = format.text_;
  while (!rest.empty()) {
    const bool braced = rest.starts_with("${");
    const std::size_t begin = braced ? 2 : 1;
    std::size_t end = begin;
    if (rest.front() == '$') {
      while (end < rest.size() && is_name(rest[end])) ++end;
    }
    const bool unclosed = braced && (end == rest.size() || rest[end] != '}');
    if (rest.front() == '$' && (end == begin || unclosed)) {  // nginx refuses to start with it.
      return fail(ErrorCode::invalid_argument,
                  fmt::format("log_format '{}': at '{}' right is a variable's name, as $request_time or "
                              "${{request_time}}",
                              format.text_, rest.substr(0, 40)));
    }
    if (end == begin) {
      if (format.steps_.empty()) {
        format.first_literal_ += rest.front();
      } else {
        Literal& literal = format.steps_.back().literal;
        literal = Literal(literal.text() + rest.front());
      }
      rest.remove_prefix(1);
      continue;
    }
    format.add_variable(rest.substr(begin, end - begin), asked);
    rest.remove_prefix(braced ? end + 1 : end);
  }
  if (format.steps_.empty()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("log_format '{}' has no variables such as $request_time", format.text_));
  }
  format.merge_skipped();
  for (Step& step : format.steps_) {
    step.may_be_escaped = format.escaped_ && step.literal.text().starts_with('"');
    // A list can only be read by its grammar where a space or comma ends it; else its literal does.
    const std::string_view literal = step.literal.text();
    step.list = step.upstream && (literal.empty() || literal.starts_with(' ') || literal == ",");
    step.request = step.slot == static_cast<std::size_t>(NginxField::request) && literal.starts_with(' ');
    if (step.slot == static_cast<std::size_t>(NginxField::time_local)) step.length_min = kTimeLocalLength;
    step.plain = !literal.empty() && !step.request && !step.may_be_escaped && step.length_min == 0 &&
                 (!step.list || literal.starts_with(' '));
  }
  return format;
}

NginxFormat NginxFormat::labelled(const std::vector<std::string>& asked) {
  NginxFormat format;
  format.labelled_ = true;
  format.text_ = "LTSV";
  for (const KnownName& known : kLabels) {
    format.names_.emplace_back(known.name, static_cast<std::uint8_t>(known.field));
  }
  for (const KnownName& known : kVariables) {
    format.names_.emplace_back(known.name, static_cast<std::uint8_t>(known.field));
  }
  for (std::size_t index = 0; index < asked.size() && index < kNginxAskedMax; ++index) {
    if (!format.slot_of(asked[index])) {
      format.names_.emplace_back(asked[index], static_cast<std::uint8_t>(kNginxKnownFields + index));
    }
  }
  format.present_.fill(true);
  return format;
}

std::optional<std::size_t> NginxFormat::slot_of(std::string_view variable) const {
  for (const auto& [name, slot] : names_) {
    if (name == variable) return slot;
  }
  return std::nullopt;
}

bool NginxFormat::split_labelled(std::string_view line, NginxLine& out) const {
  out = NginxLine{};
  out.may_have_lists = true;
  std::size_t fields = 0;
  while (true) {
    const std::size_t tab = line.find('\t');
    const std::string_view part = line.substr(0, tab);
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    ++fields;
    if (const auto slot = slot_of(part.substr(0, colon))) out.values[*slot] = part.substr(colon + 1);
    if (tab == std::string_view::npos) return fields >= 2;
    line.remove_prefix(tab + 1);
  }
}

const char* NginxFormat::end_of(const Step& step, const char* at, const char* end, const char* readable_end,
                                bool& lists) {
  const Literal& literal = step.literal;
  if (literal.empty()) {
    if (!step.list) return end;
    const char* const stop = end_of_list(at, end);
    lists = lists || has_separator(at, stop, readable_end);
    return stop;
  }
  if (step.plain) {
    const char* const stop = literal.near(at, end, readable_end);
    // Where a blank ends it no blank is within; a list's blank follows a comma or is followed by a colon.
    if (stop != nullptr && (!step.list || (stop > at && stop[-1] != ',' && !is_redirect(stop, end)))) {
      if (step.upstream && !step.list && !lists) lists = has_separator(at, stop, readable_end);
      return stop;
    }
  }
  const char* from = at;
  if (step.length_min != 0 && end - at > step.length_min) from = at + step.length_min;
  if (step.request) {
    static const Literal kProtocol(" HTTP/");
    const char* const protocol = kProtocol.find(at, end, readable_end);
    if (protocol != nullptr) from = protocol + 1;
  }
  const char* stop = literal.find(from, end, readable_end);
  while (stop != nullptr) {
    const bool escaped =
        step.may_be_escaped && stop > at && stop[-1] == '\\' && behind_odd_backslashes(at, stop);
    // The blank of ", " and the first of " : " belong to the list.
    const bool within =
        step.list && stop > at &&
        (stop[-1] == ',' || is_redirect(stop, end) || (stop[-1] == ':' && stop - at > 1 && stop[-2] == ' ') ||
         std::string_view(stop, static_cast<std::size_t>(end - stop)).starts_with(", "));
    if (!escaped && !within) break;
    stop = literal.find(stop + 1, end, readable_end);
  }
  if (stop != nullptr && step.upstream && !lists) lists = has_separator(at, stop, readable_end);
  return stop;
}

bool NginxFormat::split(std::string_view line, const char* readable_end, NginxLine& out) const {
  if (labelled_) return split_labelled(line, out);
  if (!line.starts_with(first_literal_)) return false;
  const char* at = line.data() + first_literal_.size();
  const char* const end = line.data() + line.size();
  bool lists = false;
  for (const Step& step : steps_) {
    const char* const stop = end_of(step, at, end, readable_end, lists);
    if (stop == nullptr) return false;
    out.values[step.slot] = std::string_view(at, static_cast<std::size_t>(stop - at));
    at = stop + step.literal.size();
  }
  out.may_have_lists = lists;
  return at == end;
}

}  // namespace overdue
