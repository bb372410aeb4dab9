// The least that the job of reading a log needs, and nothing of ours: read(2) into one reused buffer, find
// the fields, parse the numbers, count into histograms of 64 buckets an octave for 16 backends, print count,
// p50, p99 and p99.9. It knows make_logs' layout by heart, believes every line and keeps nothing else:
// written to win.
//     read_floor csv|ndjson|nginx FILE
#include <fcntl.h>
#include <simdjson.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kBuffer = std::size_t{256} << 10;
constexpr unsigned kBuckets = 64 * 43;

struct Counts {
  std::uint32_t replies[32][kBuckets];
  std::uint32_t by_route[64];
  char last_route[64];
  std::size_t last_route_size = 0;
  unsigned routes = 0;
  std::uint64_t rows = 0;
  std::uint64_t others = 0;
  std::uint64_t weighed = 0;  // So that what was found is not left out by the compiler.
  std::uint64_t first_start = ~std::uint64_t{0};
  std::uint64_t last_start = 0;
};

unsigned bucket_of(std::uint64_t ns) {
  const auto octave = static_cast<unsigned>(std::bit_width(ns >> 6));
  const unsigned shift = octave == 0 ? 0 : octave - 1;
  return octave * 64 - (octave == 0 ? 0 : 64) + static_cast<unsigned>(ns >> shift);
}

inline void count(Counts& counts, std::uint64_t start, unsigned backend, unsigned status, std::uint64_t ns) {
  ++counts.rows;
  counts.first_start = start < counts.first_start ? start : counts.first_start;
  counts.last_start = start > counts.last_start ? start : counts.last_start;
  if (status < 500) {
    ++counts.replies[backend & 31][bucket_of(ns)];
  } else {
    ++counts.others;
  }
}

inline std::uint64_t number(const char*& at) {
  std::uint64_t value = 0;
  for (unsigned digit = 0; (digit = static_cast<unsigned char>(*at) - unsigned{'0'}) <= 9; ++at)
    value = value * 10 + digit;
  return value;
}

// "12.345" in thousandths, whose fraction has three digits.
inline std::uint64_t thousandths(const char*& at) {
  const std::uint64_t whole = number(at);
  ++at;
  return whole * 1000 + number(at);
}

void read_csv(const char* at, const char* end, Counts& counts) {
  while (at < end) {
    const std::uint64_t start = number(at);
    at += 8;  // ",10.0.0."
    const auto backend = static_cast<unsigned>(number(at));
    at += 4;  // ":80,"
    const auto status = static_cast<unsigned>(number(at));
    ++at;
    const std::uint64_t us = thousandths(at);
    ++at;
    count(counts, start, backend, status, us * 1000);
  }
}

inline unsigned two(const char* at) {
  return static_cast<unsigned>(at[0] - '0') * 10 + static_cast<unsigned>(at[1] - '0');
}

inline const char* behind(const char* at, char c, const char* end) {
  return static_cast<const char*>(std::memchr(at, c, static_cast<std::size_t>(end - at))) + 1;
}

// Every field may have any width but the time of day, as in a log of a real nginx; the order of the fields
// and the names before them are known. The path is found and weighed, not kept.
void read_nginx(const char* at, const char* end, Counts& counts) {
  while (at < end) {
    const char* const next = behind(at, '\n', end);
    at = behind(at, '[', next);
    const std::uint64_t second = two(at) * 86'400U + two(at + 12) * 3600U + two(at + 15) * 60U + two(at + 18);
    const char* const target = behind(at + 29, ' ', next);
    const char* const request_end = behind(target, '"', next);
    const auto path_size = static_cast<std::size_t>(request_end - target) - sizeof " HTTP/1.1";
    at = request_end + 1;
    const auto status = static_cast<unsigned>(number(at));
    at = behind(at + 1, '"', next);
    at = behind(at, '"', next);
    at = behind(at + 2, '"', next) + 4;
    // The address ends where a blank does; the last number of its host tells the 16 apart.
    const char* const colon = behind(at, ':', next) - 1;
    unsigned backend = static_cast<unsigned char>(colon[-1]) - unsigned{'0'};
    if (colon[-2] != '.') backend += 10 * (static_cast<unsigned char>(colon[-2]) - unsigned{'0'});
    at = behind(colon, '=', next);
    const auto upstream_status = static_cast<unsigned>(number(at));
    at += 4;
    const std::uint64_t request_ms = thousandths(at);
    at += 5;
    const std::uint64_t connect_ms = thousandths(at);
    at += 5;
    const std::uint64_t upstream_ms = thousandths(at);
    counts.weighed += path_size + status + connect_ms;
    count(counts, second * 1000 - request_ms, backend, upstream_status, upstream_ms * 1'000'000);
    at = next;
  }
}

// There is one route, and a number is enough to tell it from another.
inline void count_route(Counts& counts, std::string_view route) {
  if (route.size() > sizeof counts.last_route) return;
  if (route.size() != counts.last_route_size ||
      std::memcmp(counts.last_route, route.data(), route.size()) != 0) {
    std::memcpy(counts.last_route, route.data(), route.size());
    counts.last_route_size = route.size();
    ++counts.routes;
  }
  ++counts.by_route[counts.routes & 63];
}

void read_ndjson(const char* at, const char* end, simdjson::ondemand::parser& parser, Counts& counts) {
  while (at < end) {
    const char* const newline =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    const auto size = static_cast<std::size_t>(newline - at);
    simdjson::ondemand::document document;
    if (parser.iterate(at, size, size + 64).get(document) != simdjson::SUCCESS) return;
    simdjson::ondemand::object object;
    if (document.get_object().get(object) != simdjson::SUCCESS) return;
    std::string_view start;
    std::string_view route;
    std::string_view backend;
    std::uint64_t status = 0;
    if (object.find_field("ts").get_string().get(start) != simdjson::SUCCESS) return;
    if (object.find_field("path").get_string().get(route) != simdjson::SUCCESS) return;
    if (object.find_field("upstream").get_string().get(backend) != simdjson::SUCCESS) return;
    if (object.find_field("status").get_uint64().get(status) != simdjson::SUCCESS) return;
    simdjson::ondemand::value latency;
    if (object.find_field("latency_ms").get(latency) != simdjson::SUCCESS) return;
    const char* digits = latency.raw_json_token().data();
    const std::uint64_t us = thousandths(digits);
    const char* s = start.data();
    const std::uint64_t ms =
        (two(s + 8) * 86'400ULL + two(s + 11) * 3600U + two(s + 14) * 60U + two(s + 17)) * 1000 +
        static_cast<unsigned>(s[20] - '0') * 100U + two(s + 21);
    const char* address = backend.data() + 7;
    count_route(counts, route);
    count(counts, ms, static_cast<unsigned>(number(address)), static_cast<unsigned>(status), us * 1000);
    at = newline + 1;
  }
}

void print(const Counts& counts) {
  std::vector<std::uint64_t> all(kBuckets);
  std::uint64_t replies = 0;
  for (const auto& backend : counts.replies) {
    for (unsigned i = 0; i < kBuckets; ++i) {
      all[i] += backend[i];
      replies += backend[i];
    }
  }
  std::printf("rows %llu replies %llu", static_cast<unsigned long long>(counts.rows),
              static_cast<unsigned long long>(replies));
  for (const double q : {0.5, 0.99, 0.999}) {
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(replies) + 0.999999);
    std::uint64_t seen = 0;
    unsigned bucket = 0;
    while (bucket + 1 < kBuckets && (seen += all[bucket]) < rank) ++bucket;
    const unsigned shift = bucket < 128 ? 0 : bucket / 64 - 1;
    const std::uint64_t low = bucket < 128 ? bucket : (bucket % 64 + 64ULL) << shift;
    std::printf(" p%g %.3f ms", q * 100, static_cast<double>(low) / 1e6);
  }
  std::printf(" weighed %llu", static_cast<unsigned long long>(counts.weighed));
  std::printf(" span %llu routes %u\n",
              static_cast<unsigned long long>(counts.last_start - counts.first_start), counts.routes);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string kind = argument_count == 3 ? arguments[1] : "";
  const int file = argument_count == 3 ? ::open(arguments[2], O_RDONLY) : -1;
  if (file < 0) {
    std::fputs("read_floor csv|ndjson|nginx FILE\n", stderr);
    return 2;
  }
  std::vector<char> buffer(kBuffer + 64);
  const auto counts = std::make_unique<Counts>();
  simdjson::ondemand::parser parser;
  std::size_t kept = 0;
  bool first = kind == "csv";
  for (;;) {
    const ssize_t got = ::read(file, buffer.data() + kept, kBuffer - kept);
    if (got <= 0) break;
    const std::size_t used = kept + static_cast<std::size_t>(got);
    const char* at = buffer.data();
    const auto* const newline = static_cast<const char*>(::memrchr(at, '\n', used));
    const char* const end = newline + 1;
    if (first) at = static_cast<const char*>(std::memchr(at, '\n', used)) + 1;
    first = false;
    if (kind == "csv") read_csv(at, end, *counts);
    if (kind == "nginx") read_nginx(at, end, *counts);
    if (kind == "ndjson") read_ndjson(at, end, parser, *counts);
    kept = used - static_cast<std::size_t>(end - buffer.data());
    std::memmove(buffer.data(), end, kept);
  }
  print(*counts);
  return 0;
}
