#include "overdue/recorded/expected_span.h"

#include <algorithm>

#include "overdue/recorded/row_sinks.h"

namespace overdue {

std::optional<TimeGrid::TimeSpan> expected_span(const ChunkSource& source, const ChunkReader& reader,
                                                const ReadOptions& options) {
  constexpr std::size_t kLookedAt = std::size_t{8} << 10;
  if (!reader.chunks_are_independent()) return std::nullopt;
  std::string lines = source.lines_of_both_ends(kLookedAt);
  if (lines.empty()) return std::nullopt;
  std::optional<TimeGrid::TimeSpan> span;
  const TakeAttempts widen = [&span](std::span<const Attempt> rows, const NameTable&, const NameTable&,
                                     const NameTable&) {
    for (const Attempt& row : rows) {
      if (!row.has_start || row.ending == Ending::refused) continue;
      if (!span) span = {row.start, row.start};
      span->first = std::min(span->first, row.start);
      span->last = std::max(span->last, row.start);
    }
  };
  HandingSink sink(options, widen);
  sink.begin_chunk(0);
  const std::size_t size = lines.size();
  lines.resize(size + ChunkReader::kReadableAfter);
  sink.end_chunk(reader.read(std::string_view(lines).substr(0, size), sink));
  sink.flush();
  return span;
}

}  // namespace overdue
