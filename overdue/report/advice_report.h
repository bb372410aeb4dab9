#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overdue/timeout/analysis.h"

namespace overdue {

// What is said of one source, whoever read it.
struct SourceReport {
  std::string path;
  std::string format;
  std::string vantage;
  std::string detail;
  std::uint64_t lines = 0;
  std::uint64_t calls = 0;
  std::uint64_t attempts = 0;
  struct SetAside {
    std::string reason;
    std::uint64_t count = 0;
    std::uint64_t first_line = 0;
  };
  std::vector<SetAside> set_aside;
  std::vector<std::string> notes;
};

struct GroupReport {
  std::string key;  // "" without --by.
  Analysis analysis;
};

struct AdviceReport {
  std::vector<SourceReport> sources;
  std::vector<GroupReport> groups;
  AdviceOptions options;
  std::string level;           // "attempts" or "calls": what was counted.
  std::string grouped_by;      // As given with --by.
  bool interrupted = false;    // Reading was stopped before the end.
  bool writes_policy = false;  // Asked to: the text need not offer it.
};

struct TextStyle {
  bool colours = false;
  int width = 80;
};

// Schema "overdue.advice/1", docs/formats/advice.md. Numbers unrounded, times in ms.
std::string advice_json(const AdviceReport& report);
// For people at three in the morning: the answer first, then why, then what to doubt.
std::string advice_text(const AdviceReport& report, const TextStyle& style);

// "not_identifiable" and its kind in a sentence, with what would help.
std::string describe_declined(const TimeoutAdvice& advice, const AdviceOptions& options);

}  // namespace overdue
