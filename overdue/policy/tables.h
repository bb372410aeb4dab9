#pragma once

#include "overdue/policy/policy_tables.h"
#include "overdue/policy/reading.h"

// One function a table of the policy file: reads it and checks it by itself.
namespace overdue::reading {

void read_timeout(const Place& at, TimeoutPolicy& timeout);
void read_retry(const Place& at, RetryPolicy& retry);
void read_write(const Place& at, WritePolicy& write);
void read_errors(const Place& at, ErrorsPolicy& errors);
void read_health(const Place& at, HealthPolicy& health);
void read_eject(const Place& at, EjectPolicy& eject);
void read_shed(const Place& at, ShedPolicy& shed);

}  // namespace overdue::reading
