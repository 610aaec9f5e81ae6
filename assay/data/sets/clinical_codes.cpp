// The ICD-9-CM code lists behind AdmissionCodes. Codes are written without their dot, and a list holds prefixes.
#include <algorithm>

#include "assay/data/sets/clinical.h"

namespace assay::clinical {
namespace {

using Codes = std::span<const std::string_view>;

constexpr std::string_view kExplicitSepsis[] = {"99592", "78552"};
constexpr std::string_view kMartinSepsis[] = {"038", "0202", "7907", "1179", "1125", "11281"};
constexpr std::string_view kAngusInfection[] = {
    "001",  "002",  "003",  "004",  "005",  "008",   "009",   "010",   "011",   "012",   "013",  "014",  "015",  "016",
    "017",  "018",  "020",  "021",  "022",  "023",   "024",   "025",   "026",   "027",   "030",  "031",  "032",  "033",
    "034",  "035",  "036",  "037",  "038",  "039",   "040",   "041",   "090",   "091",   "092",  "093",  "094",  "095",
    "096",  "097",  "098",  "100",  "101",  "102",   "103",   "104",   "110",   "111",   "112",  "114",  "115",  "116",
    "117",  "118",  "320",  "322",  "324",  "325",   "420",   "421",   "451",   "461",   "462",  "463",  "464",  "465",
    "481",  "482",  "485",  "486",  "494",  "510",   "513",   "540",   "541",   "542",   "566",  "567",  "590",  "597",
    "601",  "614",  "615",  "616",  "681",  "682",   "683",   "686",   "730",   "5695",  "5720", "5721", "5750", "5990",
    "7110", "7907", "9966", "9985", "9993", "49121", "56201", "56203", "56211", "56213", "56983"};
constexpr std::string_view kAngusDysfunction[] = {"458",  "293",  "570",  "584",  "7855", "3483",
                                                  "3481", "2874", "2875", "2869", "2866", "5734"};
constexpr std::string_view kVentilation[] = {"9670", "9671", "9672"};

bool begins_with_any(std::string_view code, Codes prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return code.starts_with(prefix); });
}

// Codes without their dot are ordered like words: 196 < 1960 < 19881 < 1991.
bool between(std::string_view code, std::string_view first, std::string_view last) {
  return code >= first && code <= last;
}

std::string without_dot(std::string_view code) {
  std::string out(code);
  std::erase(out, '.');
  return out;
}

}  // namespace

void AdmissionCodes::add_diagnosis(std::string_view text) {
  const std::string code = without_dot(text);
  if (begins_with_any(code, kExplicitSepsis)) explicit_ = true;
  if (begins_with_any(code, kMartinSepsis)) martin_ = true;
  if (begins_with_any(code, kAngusInfection)) infection_ = true;
  if (begins_with_any(code, kAngusDysfunction)) organ_dysfunction_ = true;
  if (between(code, "042", "0449")) aids_ = true;
  // Not in the ranges, as in mimic-code: 205.3 (myeloid sarcoma) and 207.1 (chronic erythraemia).
  if (between(code, "20000", "20382") || between(code, "20400", "20522") || between(code, "20580", "20702") ||
      between(code, "20720", "20892") || code == "2386" || code == "2733") {
    haematologic_ = true;
  }
  if (between(code, "1960", "1991") || between(code, "20970", "20975") || code == "20979" || code == "78951") {
    metastatic_ = true;
  }
}

void AdmissionCodes::add_procedure(std::string_view text) {
  if (begins_with_any(without_dot(text), kVentilation)) ventilated_ = true;
}

bool AdmissionCodes::septic(SepsisRule rule) const {
  switch (rule) {
    case SepsisRule::explicit_codes: return explicit_;
    case SepsisRule::martin: return martin_;
    case SepsisRule::angus: return explicit_ || (infection_ && (organ_dysfunction_ || ventilated_));
  }
  return false;
}

}  // namespace assay::clinical
