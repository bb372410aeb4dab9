#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "overdue/base/result.h"
#include "overdue/recorded/read.h"

namespace overdue {

// Bytes in order from somewhere.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills up to `size` bytes and returns how many; 0 only at the end.
  virtual Result<std::size_t> read(char* into, std::size_t size) = 0;
  // The end came because reading was stopped, so the last line may be cut short.
  virtual bool interrupted() const { return false; }
  // The last bytes that there are, at most `size`, without reading up to them; empty where that cannot be.
  virtual std::string last(std::size_t size) const {
    (void)size;
    return {};
  }
};

// ChunkSource cuts a log into chunks of whole lines, in file order, for any number of readers.
//
// A file, standard input ("-") or bytes at hand; gzip is recognised by its first bytes, members one after the
// other included. A byte-order mark is left out. Memory: one chunk a reader and one line kept between chunks.
//
// A line longer than kChunkBytes is not kept: it comes as a chunk of its own with too_long set, to be set
// aside. Errors:  unreadable_input for what is missing, a directory, compressed otherwise, or ends inside a
// gzip stream. Threads: next() may be called by several; reading and decompressing go on under one lock.
class ChunkSource {
 public:
  static constexpr std::size_t kChunkBytes = std::size_t{256} << 10;

  // One reader's buffer, reused from chunk to chunk.
  struct Chunk {
    std::string_view text;     // Whole lines; 64 bytes after them may be read (ChunkReader::kReadableAfter).
    std::uint64_t number = 0;  // 0, 1, 2, ... in the order of the file.
    bool too_long = false;
    std::vector<char> buffer;
  };

  static Result<std::unique_ptr<ChunkSource>> open(const std::string& path, ReadProgress* progress);
  static Result<std::unique_ptr<ChunkSource>> from_bytes(std::string_view bytes, const std::string& path);

  // The first whole lines, at most kChunkBytes; all there is where that is no whole line. Valid until next().
  std::string_view head() const { return head_; }
  // Leaves out the first `bytes` of the head. Requires: before next(), and a whole line of the head.
  void skip(std::size_t bytes);
  // Whether everything there is lies in the head.
  bool fits_in_head() const { return ended_; }

  // Whole lines of the beginning and of the end, each at most `size` bytes of them: empty where the end
  // cannot be looked at (a pipe, gzip). Requires: before next().
  std::string lines_of_both_ends(std::size_t size) const;

  // The next chunk, or false at the end of the log. After an error, and after stop, there is no further
  // chunk.
  Result<bool> next(Chunk& chunk);

 private:
  explicit ChunkSource(std::unique_ptr<ByteSource> bytes, std::string path);
  static Result<std::unique_ptr<ChunkSource>> start(std::unique_ptr<ByteSource> bytes,
                                                    const std::string& path);
  Result<std::size_t> fill(char* into, std::size_t size);
  Result<bool> skip_rest_of_line(Chunk& chunk);

  std::mutex lock_;
  std::unique_ptr<ByteSource> bytes_;
  std::string path_;
  std::string kept_;  // What was read and not yet handed out.
  std::string_view head_;
  std::uint64_t number_ = 0;
  bool ended_ = false;
  bool failed_ = false;
};

}  // namespace overdue
