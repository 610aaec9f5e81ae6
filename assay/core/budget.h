// What one job has spent of its context's Budget.
//
// Whoever takes memory or time because a file says so charges it here first, before it is taken: the job ends with one
// sentence instead of a machine without memory, and can be interrupted wherever it charges. An account belongs to one
// job (one file read, one graph folded, one front filtered), so that what a job may do never depends on the jobs before
// it. Not for several threads.
#pragma once

#include <cstdint>
#include <string>

#include "assay/core/context.h"

namespace assay {

class Spending {
 public:
  // where: what the job works on, for messages ("m.onnx: node 'conv1' (Conv)"). context must outlive the account.
  Spending(const Context& context, std::string where) : context_(context), where_(std::move(where)) {}

  const Context& context() const { return context_; }
  const std::string& where() const { return where_; }
  // Messages name this from now on.
  void at(std::string where) { where_ = std::move(where); }
  // An input error when the job has taken more than the budget with these; Error(cancelled) when it is to stop.
  void take_bytes(uint64_t count);
  void take_steps(uint64_t count);
  // Memory that is free again.
  void give_back_bytes(uint64_t count) { bytes_ -= count < bytes_ ? count : bytes_; }

  uint64_t bytes() const { return bytes_; }
  uint64_t steps() const { return steps_; }
  // What may still be taken.
  uint64_t bytes_left() const { return context_.budget.bytes < bytes_ ? 0 : context_.budget.bytes - bytes_; }

 private:
  const Context& context_;
  std::string where_;
  uint64_t bytes_ = 0;
  uint64_t steps_ = 0;
};

// Checks for cancellation about every `every` calls, for loops whose single turns are too short to look each time.
class Interruptible {
 public:
  explicit Interruptible(const Context& context, uint32_t every = 1 << 14) : context_(context), every_(every) {}
  void turn() {
    if (++turns_ % every_ == 0) context_.check_cancelled();
  }

 private:
  const Context& context_;
  uint32_t every_;
  uint32_t turns_ = 0;
};

// For messages: "198 bytes", "1.6 GiB".
std::string bytes_in_words(uint64_t bytes);

}  // namespace assay
