#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdue {

// What the server side really did, mark by mark.
enum class LedgerMark : std::uint8_t {
  effect,         // Done, once more.
  effect_lost,    // It was there, and a crash took it back.
  rejected,       // A no was recorded under the key.
  fenced,         // A tombstone stands under the key.
  expired,        // The key is closed and remembered; or, where keys are deleted, forgotten.
  limit_passed,   // By the server's clock nothing of the key can be done any more.
  other_payload,  // A request under the key was turned away because its bytes are not those of the first.
};

struct LedgerEntry {
  LedgerMark mark = LedgerMark::effect;
  std::string caller, key;
  std::string intent;   // Of an effect: what the caller wanted done once, as the request says.
  std::string payload;  // Of an effect: the bytes, or their hash.
  std::string reply;    // Of an effect or a rejection: what was answered first.
};

// Ledger is the truth to hold a client's history against: in a simulation what the server did, in an
// end-to-end test the rows of its database. Appended to only, in the order of the server's commits.
class Ledger {
 public:
  void add(LedgerEntry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<LedgerEntry>& entries() const { return entries_; }

  // Effects of an intent that are still there, under whatever key.
  int effects_of(std::string_view intent) const;
  // Likewise, of one caller's key.
  int effects_under(std::string_view caller, std::string_view key) const;
  bool has(LedgerMark mark, std::string_view caller, std::string_view key) const;
  // Whether anything the ledger holds was answered with this under the key.
  bool answered(std::string_view caller, std::string_view key, std::string_view reply) const;

 private:
  std::vector<LedgerEntry> entries_;
};

}  // namespace overdue
