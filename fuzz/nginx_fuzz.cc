#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/recorded/read.h"

namespace {

using namespace overdue;

// What became of each row, but for its group.
std::vector<Attempt> rows_of(std::string_view bytes, const ReadOptions& options) {
  std::vector<Attempt> rows;
  static_cast<void>(
      read_attempts(bytes, "fuzz", options, [&](auto batch, const auto&, const auto&, const auto&) {
        rows.insert(rows.end(), batch.begin(), batch.end());
      }));
  return rows;
}

bool same(const Attempt& one, const Attempt& other) {
  return one.ending == other.ending && one.elapsed == other.elapsed && one.has_start == other.has_start &&
         one.start == other.start && one.has_connect == other.has_connect && one.connect == other.connect &&
         one.backend == other.backend && one.route == other.route && one.untimed == other.untimed &&
         one.begins_call == other.begins_call;
}

}  // namespace

// Any bytes as an nginx log. Where the first line begins with '$' it is the log_format and the rest the log.
// At both levels nothing may be read past its end or overflow, and the quick way through ordinary lines,
// which grouping by method shuts, must read what the other reads.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadOptions options;
  options.format = Format::nginx;
  options.threads = 1;
  if (bytes.starts_with('$') || bytes.starts_with("log_format")) {
    const std::size_t newline = bytes.find('\n');
    options.log_format = std::string(bytes.substr(0, newline));
    bytes = newline == std::string_view::npos ? std::string_view{} : bytes.substr(newline + 1);
  }
  for (const Level level : {Level::attempts, Level::calls}) {
    options.level = level;
    ReadOptions whole = options;
    whole.group_by = "method";
    const std::vector<Attempt> quick = rows_of(bytes, options);
    const std::vector<Attempt> other = rows_of(bytes, whole);
    if (quick.size() != other.size()) std::abort();
    for (std::size_t i = 0; i < quick.size(); ++i) {
      if (!same(quick[i], other[i])) std::abort();
    }
  }
  return 0;
}
