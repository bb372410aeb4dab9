#pragma once

#include <optional>

#include "overdue/latency/time_grid.h"
#include "overdue/recorded/chunk_reader.h"
#include "overdue/recorded/chunk_source.h"

namespace overdue {

// When rows of the log's first lines and of its last started, the first and the last of them: so long a time
// the whole log covers at least. nullopt where its end cannot be looked at before it is read, and where no
// row of both says when it started. Requires: before source.next().
std::optional<TimeGrid::TimeSpan> expected_span(const ChunkSource& source, const ChunkReader& reader,
                                                const ReadOptions& options);

}  // namespace overdue
