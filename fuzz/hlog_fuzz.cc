#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "overdue/base/check.h"
#include "overdue/recorded/chunk_reader.h"

namespace {

// Counts are summed and not laid out: one line can count more replies than there is memory for rows.
class SummingSink final : public overdue::RowSink {
 public:
  void add_counts(overdue::Ending, overdue::Duration elapsed, std::uint64_t count,
                  std::optional<overdue::WallTime>) override {
    OVERDUE_CHECK(elapsed.count() >= 0);
    OVERDUE_CHECK(count > 0);
  }
  void set_aside(std::string_view, std::uint64_t line) override { OVERDUE_CHECK(line < lines); }
  void note(std::string_view) override {}
  std::uint64_t lines = 0;

 protected:
  void take(std::span<const overdue::Attempt>) override {}
};

}  // namespace

// Any bytes as an HdrHistogram log: nothing may be read past its end or overflow, and no line may vanish from
// the count.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace overdue;
  std::vector<char> buffer(data, data + size);
  buffer.resize(size + ChunkReader::kReadableAfter);
  const std::string_view bytes(buffer.data(), size);
  static_cast<void>(looks_like_hlog(bytes));
  for (const bool unit_given : {false, true}) {
    ReadOptions options;
    if (unit_given) options.unit = Duration(1'000'000'000);
    const auto opened = open_hlog(bytes, "fuzz", options);
    if (!opened) continue;
    SummingSink sink;
    for (const char c : bytes) sink.lines += c == '\n' ? 1 : 0;
    if (!bytes.empty() && bytes.back() != '\n') ++sink.lines;
    OVERDUE_CHECK(opened->reader->read(bytes, sink) == sink.lines);
  }
  return 0;
}
