#define SIMDJSON_EXCEPTIONS 0

#include "shim.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

namespace dom = simdjson::dom;
// simdjson calls these internal. An element is a tape_ref, and `as` checks its size.
using simdjson::internal::tape_ref;
using simdjson::internal::tape_type;

struct simdjson_parser {
  dom::parser parser;
  size_t capacity;

  explicit simdjson_parser(size_t capacity) : parser(capacity), capacity(capacity) {}
};

namespace {

// simdjson's elements and iterators are a pointer and an index, which is what the C face shows of them.
template <typename To, typename From> To as(const From &from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  To to;
  std::memcpy(static_cast<void *>(&to), &from, sizeof to);
  return to;
}

dom::element element_of(simdjson_element element) noexcept { return as<dom::element>(element); }

template <typename Container> simdjson_iterator begin(simdjson_element element) noexcept {
  Container container;
  if (element_of(element).get<Container>().get(container)) return {};
  return {as<simdjson_element>(container.begin()), as<simdjson_element>(container.end())};
}

// Gives the iterator's place and moves on; false at the end.
template <typename Container> bool next(simdjson_iterator *iterator, typename Container::iterator &place) noexcept {
  if (iterator->next.document == nullptr) return false;
  place = as<typename Container::iterator>(iterator->next);
  if (!(place != as<typename Container::iterator>(iterator->end))) return false;
  typename Container::iterator after = place;
  iterator->next = as<simdjson_element>(++after);
  return true;
}

// Begins with the children of a container that is not too deep; any other value has none.
void enter(simdjson_strings *strings, const tape_ref &value) noexcept {
  const tape_type type = value.tape_ref_type();
  if (strings->depth == strings->maximum_depth || (type != tape_type::START_OBJECT && type != tape_type::START_ARRAY)) return;
  strings->steps[strings->depth++] = {as<simdjson_element>(value), {}, SIZE_MAX, type == tape_type::START_OBJECT};
  strings->next = value.json_index + 1;
}

} // namespace

extern "C" {

const size_t simdjson_PADDING = simdjson::SIMDJSON_PADDING;
const int simdjson_STRING_ERROR = simdjson::STRING_ERROR;
const int simdjson_NUMBER_ERROR = simdjson::NUMBER_ERROR;
const int simdjson_VERSION_MAJOR = simdjson::SIMDJSON_VERSION_MAJOR;
const int simdjson_VERSION_MINOR = simdjson::SIMDJSON_VERSION_MINOR;
const int simdjson_VERSION_REVISION = simdjson::SIMDJSON_VERSION_REVISION;

simdjson_parser *simdjson_parser_new(size_t capacity) {
  // simdjson rejects every text if it may allocate less.
  capacity = std::max(capacity, dom::MINIMAL_DOCUMENT_CAPACITY);
  auto *parser = new (std::nothrow) simdjson_parser(capacity);
  if (parser == nullptr) return nullptr;
  // A level takes two bytes, one to open and one to close; simdjson counts the document itself as levels too.
  const size_t depth = capacity / 2 + 8;
  if (parser->parser.allocate(capacity, depth) || parser->parser.doc.allocate(capacity)) {
    delete parser;
    return nullptr;
  }
  return parser;
}

void simdjson_parser_free(simdjson_parser *parser) { delete parser; }

int simdjson_parser_parse(simdjson_parser *parser, const char *json, size_t length, simdjson_element *root) {
  if (length > parser->capacity) return simdjson::CAPACITY;
  dom::element element;
  const auto error = parser->parser.parse(json, length, false).get(element);
  if (!error) *root = as<simdjson_element>(element);
  return error;
}

char simdjson_element_type(simdjson_element element) { return static_cast<char>(element_of(element).type()); }

bool simdjson_element_get_string(simdjson_element element, simdjson_string_view *value) {
  std::string_view string;
  if (element_of(element).get_string().get(string)) return false;
  *value = {string.data(), string.size()};
  return true;
}

bool simdjson_element_get_int64(simdjson_element element, int64_t *value) { return !element_of(element).get_int64().get(*value); }

bool simdjson_element_get_double(simdjson_element element, double *value) { return !element_of(element).get_double().get(*value); }

bool simdjson_element_get_bool(simdjson_element element, bool *value) { return !element_of(element).get_bool().get(*value); }

simdjson_iterator simdjson_object_begin(simdjson_element element) { return begin<dom::object>(element); }

bool simdjson_object_next(simdjson_iterator *members, simdjson_string_view *key, simdjson_element *value) {
  dom::object::iterator member;
  if (!next<dom::object>(members, member)) return false;
  const std::string_view name = member.key();
  *key = {name.data(), name.size()};
  *value = as<simdjson_element>(member.value());
  return true;
}

simdjson_iterator simdjson_array_begin(simdjson_element element) { return begin<dom::array>(element); }

bool simdjson_array_next(simdjson_iterator *elements, simdjson_element *value) {
  dom::array::iterator place;
  if (!next<dom::array>(elements, place)) return false;
  *value = as<simdjson_element>(*place);
  return true;
}

void simdjson_strings_begin(simdjson_strings *strings, simdjson_element container, size_t maximum_depth, size_t values) {
  strings->depth = 0;
  strings->maximum_depth = std::min<size_t>(maximum_depth, simdjson_maximum_depth);
  strings->values = values;
  enter(strings, as<tape_ref>(container));
}

bool simdjson_strings_next(simdjson_strings *strings, simdjson_string_view *text) {
  while (strings->depth > 0) {
    simdjson_step &step = strings->steps[strings->depth - 1];
    tape_ref value = as<tape_ref>(step.container);
    value.json_index = strings->next;
    const tape_type first = value.tape_ref_type();
    if (first == tape_type::END_OBJECT || first == tape_type::END_ARRAY) {
      strings->next++;
      strings->depth--;
      continue;
    }
    if (strings->values == 0) break;
    strings->values--;
    // A member's name is one place before its value.
    if (step.is_member) value.json_index++;
    step.child = as<simdjson_element>(value);
    step.index++;
    strings->next = value.after_element();
    if (value.tape_ref_type() != tape_type::STRING) {
      enter(strings, value);
      continue;
    }
    const std::string_view string = value.get_string_view();
    if (string.empty()) continue;
    *text = {string.data(), string.size()};
    return true;
  }
  strings->depth = 0;
  return false;
}

simdjson_string_view simdjson_step_name(simdjson_step step) {
  tape_ref place = as<tape_ref>(step.child);
  place.json_index--;
  const std::string_view name = place.get_string_view();
  return {name.data(), name.size()};
}

simdjson_element simdjson_object_find(simdjson_element element, simdjson_string_view key) {
  simdjson_element value = {};
  dom::object object;
  if (element_of(element).get_object().get(object)) return value;
  for (auto member = object.begin(), end = object.end(); member != end; ++member) {
    const std::string_view name = member.key();
    if (key.length == name.size() && std::memcmp(key.data, name.data(), name.size()) == 0) value = as<simdjson_element>(member.value());
  }
  return value;
}

size_t simdjson_object_find_many(
    simdjson_element element, const simdjson_key_index *index, simdjson_element *values, uint16_t *found) {
  size_t count = 0;
  dom::object object;
  if (element_of(element).get_object().get(object)) return count;
  for (auto member = object.begin(), end = object.end(); member != end; ++member) {
    const std::string_view name = member.key();
    const size_t bucket = std::min<size_t>(name.size(), 64);
    for (size_t i = index->starts[bucket]; i < index->starts[bucket + 1]; i++) {
      const simdjson_string_view &key = index->keys[i];
      if (key.length != name.size() || (key.length > 0 && key.data[0] != name[0])) continue;
      if (std::memcmp(key.data, name.data(), name.size()) != 0) continue;
      const uint16_t place = index->places[i];
      if (values[place].document == nullptr) found[count++] = place;
      values[place] = as<simdjson_element>(member.value());
      break;
    }
  }
  return count;
}

} // extern "C"
