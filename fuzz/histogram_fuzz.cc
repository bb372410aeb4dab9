#include <cstdint>
#include <string>
#include <string_view>

#include "overdue/base/check.h"
#include "overdue/latency/histogram.h"

// A stored histogram comes from outside. Whatever the bytes: an error, or a histogram that is written back as
// exactly these bytes. The checksum would keep the fuzzer from the fields, so they are also tried under one
// that fits.

namespace {

std::uint32_t checksum_of(std::string_view bytes) {
  std::uint32_t state = 0xffffffffU;
  for (const char byte : bytes) {
    state ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~state;
}

void try_bytes(std::string_view bytes) {
  const auto parsed = overdue::LatencyHistogram::parse(bytes);
  if (!parsed) {
    OVERDUE_CHECK(!parsed.error().message.empty());
    return;
  }
  OVERDUE_CHECK(parsed->serialise() == bytes);
  if (!parsed->empty()) {
    OVERDUE_CHECK(parsed->min() <= parsed->value_at(overdue::Quantile{0.5}));
    OVERDUE_CHECK(parsed->value_at(overdue::Quantile{1.0}) <= parsed->max());
  }
  overdue::LatencyHistogram twice = *parsed;
  twice.merge(*parsed);
  OVERDUE_CHECK(twice.empty() == parsed->empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_bytes(bytes);
  std::string framed = std::string("ODLH\x01", 5).append(bytes);
  const std::uint32_t checksum = checksum_of(framed);
  for (unsigned shift = 0; shift < 32; shift += 8)
    framed.push_back(static_cast<char>((checksum >> shift) & 0xffU));
  try_bytes(framed);
  return 0;
}
