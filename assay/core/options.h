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

// Sees each field of an options struct: its name, value, meaning, unit and range.
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  virtual void integer(std::string_view name, int64_t& value, std::string_view meaning, std::string_view unit,
                       int64_t least, int64_t most) = 0;
  virtual void real(std::string_view name, double& value, std::string_view meaning, std::string_view unit, double least,
                    double most) = 0;
  virtual void flag(std::string_view name, bool& value, std::string_view meaning) = 0;
  // The value is one of these words.
  virtual void choice(std::string_view name, std::string& value, std::string_view meaning,
                      const std::vector<std::string>& words) = 0;
  // A number, or `word` (such as auto): value is then empty, and is chosen when it is needed.
  virtual void real_or(std::string_view name, std::optional<double>& value, std::string_view word,
                       std::string_view meaning, std::string_view unit, double least, double most) = 0;
  virtual void integer_or(std::string_view name, std::optional<int64_t>& value, std::string_view word,
                          std::string_view meaning, std::string_view unit, int64_t least, int64_t most) = 0;
  // One or more numbers in brackets, as in [0.1,0.5]; a single number needs no brackets.
  virtual void reals(std::string_view name, std::vector<double>& value, std::string_view meaning, std::string_view unit,
                     double least, double most) = 0;
};

// A field as help and documentation show it.
struct OptionInfo {
  std::string name;
  std::string value;  // the default, when the struct is fresh
  std::string meaning;
  std::string unit;
  std::string range;  // "1 to 100", "true or false", "a, b or c"
};

namespace detail {

// Applies the options of one spec; finish() refuses those that no field took.
class OptionSetter : public OptionVisitor {
 public:
  explicit OptionSetter(const Spec& spec);
  void integer(std::string_view name, int64_t& value, std::string_view meaning, std::string_view unit, int64_t least,
               int64_t most) override;
  void real(std::string_view name, double& value, std::string_view meaning, std::string_view unit, double least,
            double most) override;
  void flag(std::string_view name, bool& value, std::string_view meaning) override;
  void choice(std::string_view name, std::string& value, std::string_view meaning,
              const std::vector<std::string>& words) override;
  void real_or(std::string_view name, std::optional<double>& value, std::string_view word, std::string_view meaning,
               std::string_view unit, double least, double most) override;
  void integer_or(std::string_view name, std::optional<int64_t>& value, std::string_view word, std::string_view meaning,
                  std::string_view unit, int64_t least, int64_t most) override;
  void reals(std::string_view name, std::vector<double>& value, std::string_view meaning, std::string_view unit,
             double least, double most) override;
  void finish() const;

 private:
  const std::string* take(std::string_view name);
  [[noreturn]] void refuse(std::string_view name, std::string_view expected, std::string_view found) const;

  const Spec& spec_;
  std::vector<bool> used_;
  std::vector<std::string> known_;
};

class OptionLister : public OptionVisitor {
 public:
  void integer(std::string_view name, int64_t& value, std::string_view meaning, std::string_view unit, int64_t least,
               int64_t most) override;
  void real(std::string_view name, double& value, std::string_view meaning, std::string_view unit, double least,
            double most) override;
  void flag(std::string_view name, bool& value, std::string_view meaning) override;
  void choice(std::string_view name, std::string& value, std::string_view meaning,
              const std::vector<std::string>& words) override;
  void real_or(std::string_view name, std::optional<double>& value, std::string_view word, std::string_view meaning,
               std::string_view unit, double least, double most) override;
  void integer_or(std::string_view name, std::optional<int64_t>& value, std::string_view word, std::string_view meaning,
                  std::string_view unit, int64_t least, int64_t most) override;
  void reals(std::string_view name, std::vector<double>& value, std::string_view meaning, std::string_view unit,
             double least, double most) override;

  std::vector<OptionInfo> fields;
};

}  // namespace detail

// The struct with this item's options applied; an input error names an unknown option or a value out of range.
template <class Options>
Options options_from(const Spec& spec) {
  Options options;
  detail::OptionSetter setter(spec);
  options.describe(setter);
  setter.finish();
  return options;
}

template <class Options>
std::vector<OptionInfo> list_options(Options options = {}) {
  detail::OptionLister lister;
  options.describe(lister);
  return std::move(lister.fields);
}

}  // namespace assay
