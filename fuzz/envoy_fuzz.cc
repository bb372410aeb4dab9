#include <cstddef>
#include <cstdint>
#include <string_view>

#include "overdue/recorded/read.h"

// Any bytes as an Envoy access log: nothing may be read past its end or
// overflow, and no line may vanish from the count.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace overdue;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Level level : {Level::attempts, Level::calls}) {
    ReadOptions options;
    options.format = Format::envoy;
    options.level = level;
    options.threads = 1;
    static_cast<void>(
        read_attempts(bytes, "fuzz", options, [](auto, const auto&, const auto&, const auto&) {}));
  }
  return 0;
}
