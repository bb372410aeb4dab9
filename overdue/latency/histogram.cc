#include "overdue/latency/histogram.h"

#include <fmt/core.h>

#include <array>
#include <optional>

#include "overdue/base/check.h"
#include "overdue/base/saturating.h"

namespace overdue {
namespace {}  // namespace

void LatencyHistogram::add_slowly(Duration value, std::uint64_t count) {
  if (count == 0) return;
  make_room(value);
  std::uint64_t& counter = counts_[bucket_of(value) - first_];
  counter = saturating_sum(counter, count);
}

void LatencyHistogram::make_room(Duration value) {
  OVERDUE_CHECK(value >= Duration(0));
  const std::uint32_t bucket = bucket_of(value);
  if (bucket - first_ >= counts_.size()) cover(bucket);
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  covered_from_ = static_cast<std::uint64_t>(min_.count());
  const std::uint64_t last = std::min(static_cast<std::uint64_t>(max_.count()), kValueMax);
  covered_count_ = covered_from_ <= last ? last - covered_from_ + 1 : 0;
}

// Requires: the bucket has no counter yet.
void LatencyHistogram::cover(std::uint32_t bucket) {
  if (counts_.empty()) first_ = bucket;
  if (bucket < first_) {
    counts_.insert(counts_.begin(), first_ - bucket, 0);
    first_ = bucket;
  } else {
    counts_.resize(bucket - first_ + 1);
  }
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  if (other.empty()) return;
  make_room(other.min_);
  make_room(other.max_);
  for (std::size_t index = 0; index < other.counts_.size(); ++index) {
    std::uint64_t& counter = counts_[index + other.first_ - first_];
    counter = saturating_sum(counter, other.counts_[index]);
  }
}

void LatencyHistogram::clear() {
  std::vector<std::uint64_t> memory = std::move(counts_);
  memory.clear();
  *this = LatencyHistogram();
  counts_ = std::move(memory);
}

std::uint64_t LatencyHistogram::count() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t counter : counts_) sum = saturating_sum(sum, counter);
  return sum;
}

Duration LatencyHistogram::min() const {
  OVERDUE_CHECK(!empty());
  return min_;
}

Duration LatencyHistogram::max() const {
  OVERDUE_CHECK(!empty());
  return max_;
}

bool LatencyHistogram::saturated() const { return count() == kCountMax; }

std::uint32_t LatencyHistogram::bucket_at(Quantile q) const {
  const std::uint64_t rank = rank_of(q, count());
  std::uint64_t seen = 0;
  for (std::size_t index = 0; index < counts_.size(); ++index) {
    seen = saturating_sum(seen, counts_[index]);
    if (seen >= rank) return static_cast<std::uint32_t>(first_ + index);
  }
  check_failed("a rank lies within the count");
}

Duration LatencyHistogram::value_at(Quantile q) const {
  return std::clamp(middle_of(bucket_at(q)), min_, max_);
}

// ---- The serialised form, version 1: docs/formats/histogram.md.

namespace {

constexpr std::string_view kMagic = "ODLH";
constexpr char kVersion = 1;
constexpr std::size_t kHeadBytes = 5;
constexpr std::size_t kChecksumBytes = 4;

// CRC-32 of ISO-HDLC (polynomial 0x04c11db7, reflected), as in gzip and PNG; bit by bit, since a form is
// short.
std::uint32_t checksum_of(std::string_view bytes) {
  std::uint32_t state = 0xffffffffU;
  for (const char byte : bytes) {
    state ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~state;
}

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>((value & 0x7f) | 0x80));
  bytes.push_back(static_cast<char>(value));
}

// Reads the fields one after the other; the first failure is remembered with its place and ends the reading.
class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  // The shortest LEB128 form of a number up to `max`, nothing else.
  std::optional<std::uint64_t> varint(std::string_view what, std::uint64_t max) {
    field_at_ = at_;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) return stop(fmt::format("ends within {}", what));
      const auto byte = static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_++]));
      const std::uint64_t part = byte & 0x7f;
      if (shift == 63 && byte > 1) break;
      value |= part << shift;
      if (byte == part) {
        if (part == 0 && shift > 0) return stop(fmt::format("has {} in a longer form than needed", what));
        if (value > max) return stop(fmt::format("has {} {}, more than {}", what, value, max));
        return value;
      }
    }
    return stop(fmt::format("has {} of more than 64 bits", what));
  }
  std::nullopt_t stop(std::string_view problem) {
    problem_ = fmt::format("a stored histogram {} (byte {})", problem, field_at_);
    return std::nullopt;
  }
  bool at_end() const { return at_ == bytes_.size(); }
  std::unexpected<Error> failure() const { return fail(ErrorCode::unreadable_input, problem_); }

 private:
  std::string_view bytes_;
  std::size_t at_;
  std::size_t field_at_ = 0;
  std::string problem_;
};

Result<std::string_view> fields_of(std::string_view bytes) {
  const auto unreadable = [](std::string message) {
    return fail(ErrorCode::unreadable_input, std::move(message));
  };
  if (!bytes.starts_with(kMagic)) {
    return unreadable("these bytes are not a stored histogram: they do not begin with ODLH");
  }
  if (bytes.size() > kMagic.size() && bytes[kMagic.size()] != kVersion) {
    return unreadable(fmt::format("a stored histogram of version {}; this program reads version {}",
                                  static_cast<unsigned char>(bytes[kMagic.size()]),
                                  static_cast<int>(kVersion)));
  }
  if (bytes.size() < kHeadBytes + kChecksumBytes + 1) {
    return unreadable(fmt::format("a stored histogram is cut short: {} bytes", bytes.size()));
  }
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  std::uint32_t stored = 0;
  for (std::size_t index = 0; index < kChecksumBytes; ++index) {
    stored |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[content.size() + index]))
              << (8 * index);
  }
  if (stored != checksum_of(content)) {
    return unreadable(
        fmt::format("a stored histogram is damaged or cut short: its checksum is {:08x}, not {:08x}",
                    checksum_of(content), stored));
  }
  return content;
}

}  // namespace

std::string LatencyHistogram::serialise() const {
  std::string bytes(kMagic);
  bytes.push_back(kVersion);
  std::uint64_t used = 0;
  for (const std::uint64_t counter : counts_) used += counter > 0 ? 1 : 0;
  append_varint(bytes, used);
  if (used > 0) {
    append_varint(bytes, static_cast<std::uint64_t>(min_.count()));
    append_varint(bytes, static_cast<std::uint64_t>((max_ - min_).count()));
    std::uint64_t next = bucket_of(min_);
    for (std::uint64_t index = 0; index < counts_.size(); ++index) {
      if (counts_[index] == 0) continue;
      append_varint(bytes, first_ + index - next);
      append_varint(bytes, counts_[index]);
      next = first_ + index + 1;
    }
  }
  const std::uint32_t checksum = checksum_of(bytes);
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>((checksum >> shift) & 0xffU));
  return bytes;
}

Result<LatencyHistogram> LatencyHistogram::parse(std::string_view bytes) {
  const Result<std::string_view> content = fields_of(bytes);
  if (!content) return std::unexpected(content.error());
  FieldReader reader(*content, kHeadBytes);
  LatencyHistogram histogram;
  const auto used = reader.varint("the number of buckets", kBucketCount);
  if (!used) return reader.failure();
  if (*used > 0) {
    constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto min = reader.varint("the least latency", kLongest);
    if (!min) return reader.failure();
    const auto width = reader.varint("the span of latencies", kLongest - *min);
    if (!width) return reader.failure();
    histogram.make_room(Duration(static_cast<std::int64_t>(*min)));
    histogram.make_room(Duration(static_cast<std::int64_t>(*min + *width)));
    const auto size = static_cast<std::uint64_t>(histogram.counts_.size());
    std::uint64_t next = 0;
    for (std::uint64_t bucket = 0; bucket < *used; ++bucket) {
      const auto gap = reader.varint("a gap between buckets", size);
      if (!gap) return reader.failure();
      const bool is_last = bucket + 1 == *used;
      const bool fits =
          (bucket > 0 || *gap == 0) && (is_last ? next + *gap + 1 == size : next + *gap + 1 < size);
      if (!fits) {
        reader.stop("has buckets that do not match its least and greatest latency");
        return reader.failure();
      }
      const auto count = reader.varint("a count", kCountMax);
      if (!count) return reader.failure();
      if (*count == 0) {
        reader.stop("has an empty bucket");
        return reader.failure();
      }
      if (*used == 1 && *count == 1 && *width > 0) {
        reader.stop("has a single call with two latencies");
        return reader.failure();
      }
      histogram.counts_[next + *gap] = *count;
      next += *gap + 1;
    }
  }
  if (!reader.at_end())
    return fail(ErrorCode::unreadable_input, "a stored histogram has bytes after its last bucket");
  return histogram;
}

}  // namespace overdue
