#pragma once

#include "overdue/policy/policy_tables.h"
#include "overdue/policy/reading.h"

// One function a table of the policy file: reads it and checks it by itself.
namespace overdue::reading {

void read_timeout(const Place& at, TimeoutPolicy& timeout);
void read_retry(const Place& at, RetryPolicy& retry);
void read_write(const Place& at, WritePolicy& write);
// `at` is the write table; the retry table read without a fault.
void check_steps_have_a_key(const Place& at, const WritePolicy& write, const RetryPolicy& retry);
void read_errors(const Place& at, ErrorsPolicy& errors);
void read_health(const Place& at, HealthPolicy& health);
void read_eject(const Place& at, EjectPolicy& eject);
void read_shed(const Place& at, ShedPolicy& shed);

// A fault of one key of the table `at`, in that key's line; in the table's where the key is not written.
void fault_of_key(const Place& at, std::string_view key, std::string_view what);

}  // namespace overdue::reading
