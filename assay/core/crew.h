// The threads that parallel loops share: kept between loops, because starting one takes longer than a small loop.
//
// A system may refuse threads (a limit on a user's processes, a container's, memory for their stacks). Loops then run
// on those that there are, and on the calling thread alone where there are none: the results are the same, and only the
// time differs.
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

  // body(0) to body(count - 1), each once, on the calling thread and at most `threads` - 1 others. The body must not
  // throw, and may run loops itself.
  void run(unsigned threads, size_t count, const std::function<void(size_t)>& body);

  // The most threads that a loop wanted and did not get, and how many there were then; zeros where all were there.
  struct Shortage {
    unsigned wanted = 0;
    unsigned had = 0;
  };
  Shortage shortage() const;
  // The same as a sentence; empty where all were there.
  std::string note() const;

 private:
  struct Loop;

  void hire(unsigned wanted);
  void serve();
  Loop* open_loop();

  const Start start_;
  mutable std::mutex mutex_;
  std::condition_variable called_;  // there is a loop with room for a helper, or the end has come
  std::vector<std::thread> helpers_;
  std::vector<Loop*> loops_;
  std::chrono::steady_clock::time_point next_try_;  // to start a thread, after one was refused
  Shortage shortage_;
  bool closing_ = false;
};

// The one of this process. A forked process has one of its own, because threads do not come along into it.
Crew& process_crew();

}  // namespace assay
