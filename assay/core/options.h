// The syntax of all lists and options: items joined by commas, options after colons.
//
//   kernel_shap:samples=2048:paired=true,deeplift
//
// Inside [ ] commas and colons are ordinary: convex:weights=[0.2,0.8]. An options struct describes itself once, field
// by field, in `void describe(OptionVisitor&)`; parsing, help, documentation and provenance all read that description.
//
//   struct SplitOptions {
//     double test = 0.2;
//     void describe(OptionVisitor& visit) { visit.real("test", test, "share of rows for testing", "", 0, 1); }
//   };
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// One item of a list: a name and its options as written.
struct Spec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options = {};
};

// Splits a list of items. `where` (an option's name, say) starts the message of the input error for a list that is not
// well formed: an empty item or name, an option without '=', an option given twice, an open bracket.
std::vector<Spec> parse_specs(std::string_view where, std::string_view text);
// The same for exactly one item.
Spec parse_spec(std::string_view where, std::string_view text);

// An item as it is written in a list: "faithfulness:subset=2".
std::string spec_text(const Spec& spec);

enum class OptionKind { integer, real, flag, word, reals };

// A field as help and documentation show it.
struct OptionInfo {
  OptionKind kind = OptionKind::word;  // a number that is chosen later has its word as value
  std::string name;
  std::string value;  // the default, when the struct is fresh
  std::string meaning;
  std::string unit;
  std::string range;  // "1 to 100", "true or false", "a, b or c"
};

// Sees each field of an options struct: its name, value, meaning, unit and range. Sets it where the item has an option
// of that name, and lists it. An input error names a value out of range.
class OptionVisitor {
 public:
  explicit OptionVisitor(const Spec& spec);  // which must outlive this

  void integer(std::string_view name, int64_t& value, std::string_view meaning, std::string_view unit, int64_t least,
               int64_t most);
  void real(std::string_view name, double& value, std::string_view meaning, std::string_view unit, double least,
            double most);
  void flag(std::string_view name, bool& value, std::string_view meaning);
  // The value is one of these words.
  void choice(std::string_view name, std::string& value, std::string_view meaning,
              const std::vector<std::string>& words);
  // A number, or `word` (such as auto): value is then empty, and is chosen when it is needed.
  void real_or(std::string_view name, std::optional<double>& value, std::string_view word, std::string_view meaning,
               std::string_view unit, double least, double most);
  void integer_or(std::string_view name, std::optional<int64_t>& value, std::string_view word, std::string_view meaning,
                  std::string_view unit, int64_t least, int64_t most);
  // One or more numbers in brackets, as in [0.1,0.5]; a single number needs no brackets.
  void reals(std::string_view name, std::vector<double>& value, std::string_view meaning, std::string_view unit,
             double least, double most);

  // An input error if the item has an option that is no field.
  void finish() const;
  // The fields that were seen.
  const std::vector<OptionInfo>& fields() const { return fields_; }

 private:
  // What the item says for this field; null if nothing.
  const std::string* given(std::string_view name);
  [[noreturn]] void refuse(std::string_view name, std::string_view expected, std::string_view found) const;
  void list(OptionKind kind, std::string_view name, std::string value, std::string_view meaning, std::string_view unit,
            std::string range);

  const Spec& spec_;
  std::vector<bool> used_;
  std::vector<OptionInfo> fields_;
};

// The options of what has none.
struct NoOptions {
  void describe(OptionVisitor& /*visit*/) {}
};

// The struct with this item's options applied; an input error names an unknown option or a value out of range.
template <class Options>
Options options_from(const Spec& spec, Options options = {}) {
  OptionVisitor visitor(spec);
  options.describe(visitor);
  visitor.finish();
  return options;
}

template <class Options>
std::vector<OptionInfo> list_options(Options options = {}) {
  const Spec nothing;
  OptionVisitor visitor(nothing);
  options.describe(visitor);
  return visitor.fields();
}

}  // namespace assay
