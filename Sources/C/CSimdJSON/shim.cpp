#define SIMDJSON_EXCEPTIONS 0

#include "shim.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <type_traits>

namespace dom = simdjson::dom;

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

bool simdjson_child_next(simdjson_iterator *children, bool is_object, simdjson_child *child) {
  dom::element value;
  if (is_object) {
    dom::object::iterator member;
    if (!next<dom::object>(children, member)) return false;
    const std::string_view name = member.key();
    child->name = {name.data(), name.size()};
    value = member.value();
  } else {
    dom::array::iterator place;
    if (!next<dom::array>(children, place)) return false;
    child->name = {};
    value = *place;
  }
  child->value = as<simdjson_element>(value);
  child->type = static_cast<char>(value.type());
  std::string_view text;
  if (child->type == '"' && !value.get_string().get(text))
    child->text = {text.data(), text.size()};
  else
    child->text = {};
  return true;
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
