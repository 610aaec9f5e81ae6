// For tests of error messages.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "assay/core/error.h"

namespace assay {

// The message of the Error that `act` throws, or "no error".
template <class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The same where it must be bad input that is at fault.
template <class Act>
std::string sentence(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

}  // namespace assay
