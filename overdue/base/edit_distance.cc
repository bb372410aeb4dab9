#include "overdue/base/edit_distance.h"

#include <algorithm>
#include <vector>

namespace overdue {

std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::vector<std::size_t>> steps(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = 0; i <= left.size(); ++i) steps[i][0] = i;
  for (std::size_t j = 0; j <= right.size(); ++j) steps[0][j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const std::size_t replaced = steps[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
        steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[left.size()][right.size()];
}

}  // namespace overdue
