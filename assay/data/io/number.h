// Text to float32 and back, the same everywhere: no locale, correctly rounded, shortest text that reads back equal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct ParsedNumber {
  float value;
  bool rounded;  // a number beyond 2^24 whose last digits float32 cannot hold
};

// The number that fills the whole text: decimal or scientific, with an optional sign, or inf. Nothing when it is not a
// number, or when it is too large for float32.
std::optional<ParsedNumber> parse_number(std::string_view text);

// The same number as a double, correctly rounded from the text. The text must be one that parse_number accepts.
double parse_double(std::string_view text);

// Appends the shortest decimal that reads back as the same float32; whole numbers below 10^15 without an exponent, as
// people write them.
void append_number(std::string& out, float value);
std::string number_text(float value);

}  // namespace assay
