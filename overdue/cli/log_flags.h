#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/latency/measurement.h"
#include "overdue/recorded/read.h"
#include "overdue/timeout/analysis.h"

namespace CLI {
class App;
}

namespace overdue {

// The flags of every command that reads logs, as the user wrote them.
struct LogFlags {
  std::vector<std::string> paths;
  std::string format;
  std::vector<std::string> columns;  // --map field=column[,field=column...]
  std::string log_format;
  std::string unit;
  std::string vantage;
  std::string success;
  std::string limit;
  std::string since;
  std::string until;
  std::vector<std::string> where;
  std::string by;
  bool calls = false;
  unsigned threads = 0;  // 0: as many as there are cores, two at least.
  std::string expected_interval;
  std::optional<std::int64_t> sent;
};

// The flags of every command that chooses a timeout.
struct ChoiceFlags {
  std::string accept = "0.1%";
  std::string confidence = "95%";
  std::string headroom;
  std::string promise;
};

void add_log_flags(CLI::App& command, LogFlags& flags);
void add_choice_flags(CLI::App& command, ChoiceFlags& flags);

Result<ReadOptions> read_options_of(const LogFlags& flags);
// The advice's and the promise; limit and vantage come with the log.
Result<AnalysisOptions> analysis_options_of(const ChoiceFlags& flags);

// All sources read and merged by group, --sent and --expected-interval applied.
struct ReadLogs {
  std::vector<SourceSummary> sources;
  std::map<std::string, Measurement> groups;
  bool interrupted = false;
};
Result<ReadLogs> read_logs(const LogFlags& flags, const ReadOptions& options);

// What the sources say that bears on an analysis: vantage, doubts about the unit.
void tell_sources(const ReadLogs& logs, const ReadOptions& read, AnalysisOptions& analysis);

}  // namespace overdue
