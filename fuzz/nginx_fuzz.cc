#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "overdue/recorded/read.h"

// Any bytes as an nginx log. Where the first line begins with '$' it is the log_format and the rest the log.
// At both levels nothing may be read past its end or overflow, and no line may vanish from the count.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace overdue;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadOptions options;
  options.format = Format::nginx;
  options.threads = 1;
  if (bytes.starts_with('$') || bytes.starts_with("log_format")) {
    const std::size_t newline = bytes.find('\n');
    options.log_format = std::string(bytes.substr(0, newline));
    bytes = newline == std::string_view::npos ? std::string_view{} : bytes.substr(newline + 1);
    options.group_by = "route";
  }
  for (const Level level : {Level::attempts, Level::calls}) {
    options.level = level;
    static_cast<void>(
        read_attempts(bytes, "fuzz", options, [](auto, const auto&, const auto&, const auto&) {}));
  }
  return 0;
}
