#include "overdue/cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace overdue {
namespace {

constexpr std::size_t kSmallFileMax = 16U << 20;

std::unexpected<Error> system_failure(std::string_view what, const std::string& path) {
  return fail(ErrorCode::unreadable_input,
              fmt::format("{}: cannot be {}: {}", path, what, std::strerror(errno)));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A rename is durable once its folder is.
void flush_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0) ::fsync(opened.get());
}

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
  static std::map<std::string, std::string> piped;
  if (const auto before = piped.find(path); before != piped.end()) return before->second;
  const Descriptor from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (from.get() < 0) return system_failure("read", path);
  struct stat what{};
  const bool gives_once = ::fstat(from.get(), &what) == 0 && S_ISFIFO(what.st_mode);
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(from.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path);
    if (got == 0) {
      if (gives_once) piped.emplace(path, text);
      return text;
    }
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kSmallFileMax) {
      return fail(
          ErrorCode::unreadable_input,
          fmt::format("{}: longer than 16 MiB: it is read whole, and no policy or scenario is that long",
                      path));
    }
  }
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  // Through a link the target is replaced, and the link stays.
  std::string target = path;
  if (char* real = ::realpath(path.c_str(), nullptr)) {
    target = real;
    std::free(real);
  }
  struct stat before{};
  const bool exists = ::stat(target.c_str(), &before) == 0;
  if (exists && !S_ISREG(before.st_mode)) {
    return fail(ErrorCode::unreadable_input, fmt::format("{}: is not a regular file", path));
  }
  std::string beside = target + ".XXXXXX";
  Descriptor to(::mkostemp(beside.data(), O_CLOEXEC));
  if (to.get() < 0) return system_failure("written", path);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? before.st_mode & 07777 : 0666 & ~mask;
  if (!write_all(to.get(), text) || ::fchmod(to.get(), mode) != 0 || ::fsync(to.get()) != 0 || !to.close() ||
      ::rename(beside.c_str(), target.c_str()) != 0) {
    auto failure = system_failure("written", path);
    ::unlink(beside.c_str());
    return failure;
  }
  flush_folder_of(target);
  return {};
}

}  // namespace overdue
