#include "overdue/recorded/chunk_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "overdue/base/check.h"
#include "overdue/recorded/chunk_reader.h"

namespace overdue {
namespace {

constexpr std::size_t kCompressedBytes = std::size_t{128} << 10;

std::unexpected<Error> unreadable(const std::string& path, std::string_view what) {
  return fail(ErrorCode::unreadable_input,
              fmt::format("{}: {}", path == "-" ? "standard input" : path, what));
}

class FileBytes final : public ByteSource {
 public:
  FileBytes(int descriptor, std::string path, ReadProgress* progress)
      : descriptor_(descriptor), path_(std::move(path)), progress_(progress) {
    struct stat status{};
    may_wait_ = ::fstat(descriptor_, &status) == 0 && !S_ISREG(status.st_mode);
    begin_ =
        std::max<off_t>(::lseek(descriptor_, 0, SEEK_CUR), 0);  // Of standard input, others may have read.
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes() override {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }
  Result<std::size_t> read(char* into, std::size_t size) override {
    for (;;) {
      if (progress_ && may_wait_ && !wait_for_bytes()) {
        interrupted_ = true;
        return std::size_t{0};
      }
      const ssize_t count = ::read(descriptor_, into, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return unreadable(path_, std::strerror(errno));
      if (progress_)
        progress_->bytes_read.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
      return static_cast<std::size_t>(count);
    }
  }
  bool interrupted() const override { return interrupted_; }
  std::string last(std::size_t size) const override {
    struct stat status{};
    if (may_wait_ || ::fstat(descriptor_, &status) != 0) return {};
    const off_t there = std::max<off_t>(status.st_size - begin_, 0);
    std::string bytes(std::min(size, static_cast<std::size_t>(there)), '\0');
    const off_t from = status.st_size - static_cast<off_t>(bytes.size());
    const ssize_t count = ::pread(descriptor_, bytes.data(), bytes.size(), from);
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return bytes;
  }

 private:
  // A pipe may be silent for hours: Ctrl-C must not have to wait for its next byte. False once stop is set.
  bool wait_for_bytes() const {
    constexpr int kPatienceMilliseconds = 100;
    while (!progress_->stop.load(std::memory_order_relaxed)) {
      pollfd waited{.fd = descriptor_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&waited, 1, kPatienceMilliseconds);
      if (ready > 0 || (ready < 0 && errno != EINTR))
        return true;  // Bytes, the end or an error: read() will say.
    }
    return false;
  }

  int descriptor_;
  std::string path_;
  ReadProgress* progress_;
  bool may_wait_ = false;
  off_t begin_ = 0;
  bool interrupted_ = false;
};

class BytesAtHand final : public ByteSource {
 public:
  explicit BytesAtHand(std::string_view bytes) : rest_(bytes) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t count = std::min(size, rest_.size());
    if (count > 0) std::memcpy(into, rest_.data(), count);
    rest_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view rest_;
};

// What was read to look at, and then the rest.
class BytesAfter final : public ByteSource {
 public:
  BytesAfter(std::string first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    if (used_ == first_.size()) return rest_->read(into, size);
    const std::size_t count = std::min(size, first_.size() - used_);
    std::memcpy(into, first_.data() + used_, count);
    used_ += count;
    return count;
  }
  bool interrupted() const override { return rest_->interrupted(); }
  std::string last(std::size_t size) const override { return rest_->last(size); }

 private:
  std::string first_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

// Gzip (RFC 1952) through zlib, member after member; zero bytes behind the last are padding, as gzip itself
// takes them.
class GzipBytes final : public ByteSource {
 public:
  GzipBytes(std::unique_ptr<ByteSource> packed, std::string path)
      : packed_(std::move(packed)), path_(std::move(path)) {
    // 15 bits of window, 16 more: the gzip wrapper and no other.
    OVERDUE_CHECK(::inflateInit2(&stream_, 15 + 16) == Z_OK);
  }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;
  ~GzipBytes() override { ::inflateEnd(&stream_); }

  Result<std::size_t> read(char* into, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size) {
      if (stream_.avail_in == 0) {
        const auto count = packed_->read(input_.data(), input_.size());
        if (!count) return std::unexpected(count.error());
        if (*count == 0) {
          if (between_members_ || packed_->interrupted()) return std::size_t{0};
          return unreadable(
              path_,
              "the gzip data ends in the middle: the file is cut off. Decompress what there is with "
              "zcat and give that to read it all the same");
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(*count);
      }
      if (between_members_ && !begin_member()) continue;
      const int state = ::inflate(&stream_, Z_NO_FLUSH);
      if (state == Z_STREAM_END) {
        between_members_ = true;
        first_member_ = false;
        OVERDUE_CHECK(::inflateReset(&stream_) == Z_OK);
      } else if (state != Z_OK && state != Z_BUF_ERROR) {
        return unreadable(
            path_, fmt::format("the gzip data is damaged ({})", stream_.msg ? stream_.msg : "no detail"));
      }
    }
    return size - stream_.avail_out;
  }

  bool interrupted() const override { return packed_->interrupted(); }

 private:
  // Skips padding; true when a member's first byte is there.
  bool begin_member() {
    while (!first_member_ && stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    between_members_ = false;
    return true;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::vector<char> input_ = std::vector<char>(kCompressedBytes);
  z_stream stream_{};
  bool between_members_ = true;
  bool first_member_ = true;
};

struct Magic {
  std::string_view bytes;
  std::string_view message;
};
constexpr Magic kOtherMagics[] = {
    {std::string_view("\x28\xb5\x2f\xfd", 4),
     "is compressed with zstd: pipe it in, as in `zstd -dc FILE | overdue advise -`"},
    {std::string_view("\xfd\x37zXZ", 5),
     "is compressed with xz: pipe it in, as in `xz -dc FILE | overdue advise -`"},
    {"BZh", "is compressed with bzip2: pipe it in, as in `bzip2 -dc FILE | overdue advise -`"},
    {std::string_view("PK\x03\x04", 4), "is a zip archive: unpack it first"},
    {std::string_view("\x04\x22\x4d\x18", 4),
     "is compressed with lz4: pipe it in, as in `lz4 -dc FILE | overdue advise -`"},
    {"PAR1", "is a Parquet file: export it as CSV"},
    {"SQLite format 3", "is an SQLite database: export a table of it as CSV"},
    {std::string_view("\xff\xfe", 2), "is UTF-16 text: convert it, as in `iconv -f UTF-16 -t UTF-8`"},
    {std::string_view("\xfe\xff", 2), "is UTF-16 text: convert it, as in `iconv -f UTF-16 -t UTF-8`"},
};

// Who has the lock mostly copies from the system's cache and is done before a sleeper would be awake.
std::unique_lock<std::mutex> locked_soon(std::mutex& mutex) {
  constexpr int kTries = 100;
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int tries = 0; !lock.owns_lock() && tries < kTries; ++tries) {
    std::this_thread::yield();
    (void)lock.try_lock();
  }
  if (!lock.owns_lock()) lock.lock();
  return lock;
}

}  // namespace

ChunkSource::ChunkSource(std::unique_ptr<ByteSource> bytes, std::string path)
    : bytes_(std::move(bytes)), path_(std::move(path)) {}

Result<std::unique_ptr<ChunkSource>> ChunkSource::open(const std::string& path, ReadProgress* progress) {
  const int descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return unreadable(path, std::strerror(errno));
  auto file = std::make_unique<FileBytes>(descriptor, path, progress);
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) return unreadable(path, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) return unreadable(path, "is a directory: name the files in it");
  if (S_ISREG(about.st_mode)) {
    if (progress) progress->bytes_total = static_cast<std::uint64_t>(about.st_size);
    (void)::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  return start(std::move(file), path);
}

Result<std::unique_ptr<ChunkSource>> ChunkSource::from_bytes(std::string_view bytes,
                                                             const std::string& path) {
  return start(std::make_unique<BytesAtHand>(bytes), path);
}

Result<std::unique_ptr<ChunkSource>> ChunkSource::start(std::unique_ptr<ByteSource> bytes,
                                                        const std::string& path) {
  std::string first(4096, '\0');
  std::size_t used = 0;
  while (used < first.size()) {
    const auto count = bytes->read(first.data() + used, first.size() - used);
    if (!count) return std::unexpected(count.error());
    if (*count == 0) break;
    used += *count;
  }
  first.resize(used);
  for (const Magic& magic : kOtherMagics) {
    if (first.starts_with(magic.bytes)) return unreadable(path, magic.message);
  }
  const bool packed = first.starts_with("\x1f\x8b");
  std::unique_ptr<ByteSource> whole = std::make_unique<BytesAfter>(std::move(first), std::move(bytes));
  if (packed) whole = std::make_unique<GzipBytes>(std::move(whole), path);
  std::unique_ptr<ChunkSource> source(new ChunkSource(std::move(whole), path));

  source->kept_.resize(kChunkBytes);
  const auto count = source->fill(source->kept_.data(), kChunkBytes);
  if (!count) return std::unexpected(count.error());
  source->kept_.resize(*count);
  if (source->kept_.starts_with("\xef\xbb\xbf")) source->kept_.erase(0, 3);
  source->head_ = source->kept_;
  const std::size_t newline = source->head_.rfind('\n');
  if (!source->ended_ && newline != std::string_view::npos)
    source->head_ = source->head_.substr(0, newline + 1);
  return source;
}

void ChunkSource::skip(std::size_t bytes) {
  OVERDUE_CHECK(number_ == 0 && bytes <= head_.size());
  kept_.erase(0, bytes);
  head_ = {};
}

std::string ChunkSource::lines_of_both_ends(std::size_t size) const {
  // Between two ends of lines: the last line may be half written.
  const std::string last = bytes_->last(size);
  const std::size_t begin = last.find('\n');
  const std::size_t end = last.rfind('\n');
  if (begin == end) return {};
  const std::string_view first = std::string_view(kept_).substr(0, size);
  std::string lines(first.substr(0, first.rfind('\n') + 1));
  lines.append(last, begin + 1, end - begin);
  return lines;
}

// As many of `size` bytes as there are; fewer only at the end, which ended_ then says.
Result<std::size_t> ChunkSource::fill(char* into, std::size_t size) {
  std::size_t used = 0;
  while (used < size && !ended_) {
    const auto count = bytes_->read(into + used, size - used);
    if (!count) {
      failed_ = true;
      return std::unexpected(count.error());
    }
    if (*count == 0) ended_ = true;
    used += *count;
  }
  return used;
}

Result<bool> ChunkSource::next(Chunk& chunk) {
  constexpr std::size_t kRoom = kChunkBytes + ChunkReader::kReadableAfter;
  if (chunk.buffer.size() != kRoom) chunk.buffer.resize(kRoom);
  char* const buffer = chunk.buffer.data();
  const std::unique_lock guard = locked_soon(lock_);
  if (failed_) return false;
  std::size_t used = kept_.size();
  OVERDUE_CHECK(used <= kChunkBytes);
  if (used > 0) std::memcpy(buffer, kept_.data(), used);
  kept_.clear();
  const auto count = fill(buffer + used, kChunkBytes - used);
  if (!count) return std::unexpected(count.error());
  used += *count;
  if (used == 0) return false;
  chunk.number = number_++;
  chunk.too_long = false;
  std::size_t whole = used;
  const bool cut_short = ended_ && bytes_->interrupted();
  if (!ended_ || cut_short) {
    const void* const newline = ::memrchr(buffer, '\n', used);
    if (newline == nullptr && cut_short) return false;
    if (newline == nullptr) return skip_rest_of_line(chunk);
    whole = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer) + 1;
    if (!cut_short) kept_.assign(buffer + whole, used - whole);
  }
  chunk.text = {buffer, whole};
  return true;
}

Result<bool> ChunkSource::skip_rest_of_line(Chunk& chunk) {
  chunk.too_long = true;
  chunk.text = {};
  while (!ended_) {
    const auto count = fill(chunk.buffer.data(), kChunkBytes);
    if (!count) return std::unexpected(count.error());
    const std::string_view read(chunk.buffer.data(), *count);
    const std::size_t newline = read.find('\n');
    if (newline == std::string_view::npos) continue;
    kept_.assign(read.substr(newline + 1));
    break;
  }
  return true;
}

}  // namespace overdue
