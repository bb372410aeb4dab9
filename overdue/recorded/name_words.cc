#include "overdue/recorded/name_words.h"

#include <algorithm>
#include <vector>

namespace overdue {
namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

// A letter of another script, in UTF-8; of such a name the unit alone is read.
constexpr bool is_foreign(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// "responseTimeMs", "Response time (ms)" and "response_time_ms" are all {response, time, ms}.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  bool open = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    char c = name[i];
    // Both ways of writing a micro sign in UTF-8.
    if (name.substr(i, 2) == "\xc2\xb5" || name.substr(i, 2) == "\xce\xbc") {
      c = 'u';
      ++i;
    }
    if (const std::string_view three = name.substr(i, 3); three == "\uff08" || three == "\uff09") {
      open = false;  // Wide parentheses.
      i += 2;
      continue;
    }
    if (!is_lower(c) && !is_upper(c) && !is_digit(c) && !is_foreign(c)) {
      open = false;
      continue;
    }
    if (open && is_foreign(c) != is_foreign(words.back().back())) open = false;
    const bool after_lower = i > 0 && (is_lower(name[i - 1]) || is_digit(name[i - 1]));
    const bool before_lower = i + 1 < name.size() && is_lower(name[i + 1]) && i > 0 && is_upper(name[i - 1]);
    if (is_upper(c) && (after_lower || before_lower)) open = false;
    if (!open) words.emplace_back();
    words.back() += lower(c);
    open = true;
  }
  return words;
}

struct UnitWord {
  std::string_view word;
  TimeUnit unit;
};
constexpr UnitWord kUnitWords[] = {{"s", TimeUnit::seconds},
                                   {"sec", TimeUnit::seconds},
                                   {"secs", TimeUnit::seconds},
                                   {"second", TimeUnit::seconds},
                                   {"seconds", TimeUnit::seconds},
                                   {"ms", TimeUnit::milliseconds},
                                   {"msec", TimeUnit::milliseconds},
                                   {"msecs", TimeUnit::milliseconds},
                                   {"millis", TimeUnit::milliseconds},
                                   {"millisecond", TimeUnit::milliseconds},
                                   {"milliseconds", TimeUnit::milliseconds},
                                   {"us", TimeUnit::microseconds},
                                   {"usec", TimeUnit::microseconds},
                                   {"usecs", TimeUnit::microseconds},
                                   {"micros", TimeUnit::microseconds},
                                   {"microsecond", TimeUnit::microseconds},
                                   {"microseconds", TimeUnit::microseconds},
                                   {"ns", TimeUnit::nanoseconds},
                                   {"nsec", TimeUnit::nanoseconds},
                                   {"nanos", TimeUnit::nanoseconds},
                                   {"nanosecond", TimeUnit::nanoseconds},
                                   {"nanoseconds", TimeUnit::nanoseconds}};

std::optional<TimeUnit> take_unit(std::vector<std::string>& words) {
  if (words.size() < 2) return std::nullopt;
  for (const UnitWord& known : kUnitWords) {
    if (words.back() != known.word) continue;
    words.pop_back();
    return known.unit;
  }
  return std::nullopt;
}

// "p99", "tp99", "q99", "99th", "99pct"; of a name in several words also "99" behind "upper".
bool is_percentile(std::string_view word) {
  static constexpr std::string_view kBefore[] = {"p", "tp", "q", "pct", "perc", "percentile"};
  static constexpr std::string_view kBehind[] = {"th", "pct", "perc", "percentile"};
  const auto digits = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_digit);
  };
  return std::ranges::any_of(kBefore,
                             [&](std::string_view before) {
                               return word.starts_with(before) && digits(word.substr(before.size()));
                             }) ||
         std::ranges::any_of(kBehind, [&](std::string_view behind) {
           return word.ends_with(behind) && digits(word.substr(0, word.size() - behind.size()));
         });
}

bool says_upper(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "upper" && std::ranges::all_of(words[i + 1], is_digit)) return true;
  }
  return false;
}

bool is_statistic(const std::vector<std::string>& words) {
  static constexpr std::string_view kWords[] = {"avg",     "average",    "mean",   "min",      "max",
                                                "minimum", "maximum",    "median", "med",      "stddev",
                                                "stdev",   "percentile", "pct",    "quantile", "variance"};
  return std::ranges::any_of(words,
                             [](const std::string& word) {
                               return std::ranges::find(kWords, word) != std::end(kWords) ||
                                      is_percentile(word);
                             }) ||
         says_upper(words);
}

}  // namespace

ReadName read_name(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  ReadName read;
  read.unit = take_unit(words);
  read.statistic = is_statistic(words);
  for (const std::string& word : words) read.joined += word;
  if (!words.empty()) read.first = words.front();
  return read;
}

}  // namespace overdue
