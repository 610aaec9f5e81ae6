// The threads that parallel loops share: kept between loops, because starting one takes longer than a small loop.
//
// The system may refuse to start threads (limits on the processes of a user or container, no memory for stacks). Loops
// then run on the threads that did start, or on the calling thread alone. Results are the same; only the time differs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace assay {

class Crew {
 public:
  // Starts a thread that runs the function; throws std::system_error where the system refuses.
  using Start = std::function<std::thread(std::function<void()>)>;

  Crew();
  explicit Crew(Start start);
  // Waits for its threads. No loop may be running.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls body(0) to body(count - 1), each once, on the calling thread and at most `threads` - 1 others. The body must
  // not throw, and may run loops itself.
  void run(unsigned threads, size_t count, const std::function<void(size_t)>& body);

  // The largest number of threads that a loop wanted and did not get, and how many it had. Zeros: no shortage.
  struct Shortage {
    unsigned wanted = 0;
    unsigned had = 0;
  };
  Shortage shortage() const;
  // The same as a sentence for users; empty: no shortage.
  std::string note() const;

 private:
  struct Loop;

  void hire(unsigned wanted);
  void serve();
  Loop* open_loop();

  const Start start_;
  mutable std::mutex mutex_;
  std::condition_variable called_;  // signalled when a loop has room for a helper, and at the end
  std::vector<std::thread> helpers_;
  std::vector<Loop*> loops_;
  std::chrono::steady_clock::time_point next_try_;  // after a refusal, no thread is started before this
  Shortage shortage_;
  bool closing_ = false;
};

// The crew of this process. A forked process gets its own, because fork does not copy threads.
Crew& process_crew();

}  // namespace assay
