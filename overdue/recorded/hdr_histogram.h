#pragma once

#include <cstdint>
#include <expected>
#include <string_view>
#include <vector>

namespace overdue {

// HdrCounts is one histogram as HdrHistogram writes it into its logs: base64 over a header and a zlib stream,
// in which lies a header with the histogram's range and precision, and the counts of its buckets.
//
// Read are the encodings V0 (cookie ...08/09: counts as fixed words), V1 (...01/02: the same with a longer
// header) and V2 (...03/04: counts and runs of zeros as ZigZag LEB128 of at most 9 bytes). Buckets: those of
// HdrHistogram (G. Tene), an exponent and 2 * 10^digits linear steps, rounded up to a power of two, in each
// doubling. Values are in whatever unit the program recorded.
struct HdrCounts {
  struct Bucket {
    std::int64_t low = 0;   // The least and
    std::int64_t high = 0;  // the greatest value that is counted here.
    std::uint64_t count = 0;
  };
  std::vector<Bucket> buckets;  // Ascending, none empty.
  std::int64_t highest_trackable = 0;
  std::uint64_t total = 0;

  // The greatest value lies in the last sixteenth of the histogram's range: greater ones may have been lost.
  bool at_its_limit() const {
    return !buckets.empty() && buckets.back().high >= highest_trackable - highest_trackable / 16;
  }
};

// The other side is a word for what is wrong, a literal.
std::expected<HdrCounts, std::string_view> decode_hdr_histogram(std::string_view base64);

}  // namespace overdue
