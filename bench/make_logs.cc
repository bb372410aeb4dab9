// Writes a log for the benches to standard output: make_logs csv|ndjson|nginx LINES. The same bytes every
// time. 16 backends, 1,000 calls a second; latencies mostly 3 to 30 ms, 2 % from 40 to 400 ms, 0.4 % given up
// on at 1 s.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct Generator {
  std::uint64_t state = 20261129;
  std::uint64_t next() {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t value = state;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
  }
  double uniform() { return static_cast<double>(static_cast<std::int64_t>(next() >> 11)) * 0x1p-53; }
};

struct Call {
  std::uint64_t start_ms;
  unsigned backend;
  unsigned status;
  unsigned latency_us;
  unsigned order;
};

Call next_call(Generator& random, std::uint64_t number) {
  Call call{1'700'000'000'000 + number, static_cast<unsigned>(random.next() % 16) + 1, 200, 0,
            static_cast<unsigned>(random.next() % 90'000) + 10'000};
  const double kind = random.uniform();
  // A sum of uniforms is near enough to normal here.
  const double normal = random.uniform() + random.uniform() + random.uniform() + random.uniform() - 2.0;
  double ms = std::exp(2.2 + 0.8 * normal);
  if (kind < 0.02) ms = 40 + 360 * random.uniform();
  if (kind > 0.996) {
    ms = 1000;
    call.status = 504;
  } else if (kind > 0.990) {
    call.status = 503;
  }
  call.latency_us = static_cast<unsigned>(ms * 1000);
  return call;
}

void print_csv(const Call& call) {
  std::printf("%llu,10.0.0.%u:80,%u,%u.%03u\n", static_cast<unsigned long long>(call.start_ms), call.backend,
              call.status, call.latency_us / 1000, call.latency_us % 1000);
}

void print_ndjson(const Call& call) {
  const std::uint64_t second = call.start_ms / 1000 - 1'699'920'000;  // Since 2023-11-14T00:00:00Z.
  std::printf(
      "{\"ts\":\"2023-11-%02uT%02u:%02u:%02u.%03uZ\",\"level\":\"info\",\"method\":\"GET\",\"path\":\"/api/"
      "orders\",\"upstream\":"
      "\"10.0.0.%u:80\",\"status\":%u,\"bytes\":%u,\"latency_ms\":%u.%03u,\"request_id\":\"%08x%08x\","
      "\"agent\":\"curl/7.88.1\"}\n",
      static_cast<unsigned>(14 + second / 86'400), static_cast<unsigned>(second / 3600 % 24),
      static_cast<unsigned>(second / 60 % 60), static_cast<unsigned>(second % 60),
      static_cast<unsigned>(call.start_ms % 1000), call.backend, call.status, call.order / 7,
      call.latency_us / 1000, call.latency_us % 1000, call.order * 2654435761U,
      call.latency_us * 2246822519U);
}

void print_nginx(const Call& call) {
  const std::uint64_t second = call.start_ms / 1000 - 1'699'920'000;
  const unsigned ms = call.latency_us / 1000;
  std::printf(
      "10.1.2.%u - - [%02u/Nov/2023:%02u:%02u:%02u +0000] \"GET /api/orders/%u HTTP/1.1\" %u %u \"-\" "
      "\"curl/7.88.1\" "
      "ua=10.0.0.%u:80 us=%u rt=%u.%03u uct=0.00%u urt=%u.%03u\n",
      call.order % 200, static_cast<unsigned>(14 + second / 86'400),
      static_cast<unsigned>(second / 3600 % 24), static_cast<unsigned>(second / 60 % 60),
      static_cast<unsigned>(second % 60), call.order, call.status, call.order / 7, call.backend, call.status,
      ms / 1000, ms % 1000, call.order % 3, ms / 1000, ms % 1000);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string kind = count == 3 ? arguments[1] : "";
  const auto print = kind == "csv"      ? print_csv
                     : kind == "ndjson" ? print_ndjson
                     : kind == "nginx"  ? print_nginx
                                        : nullptr;
  if (print == nullptr) {
    std::fputs("make_logs csv|ndjson|nginx LINES\n", stderr);
    return 2;
  }
  const std::uint64_t lines = std::strtoull(arguments[2], nullptr, 10);
  if (kind == "csv") std::puts("start_ms,backend,status,latency_ms");
  Generator random;
  for (std::uint64_t i = 0; i < lines; ++i) print(next_call(random, i));
  return 0;
}
