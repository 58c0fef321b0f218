/// simdjson's DOM for callers without C++: its names with the prefix `simdjson_`, elements as values, no exceptions.
///
/// An element is a place on the parser's tape: it costs nothing to copy, and is valid until its parser parses again or is freed.
/// Strings lie in the parser's buffer, unescaped, not terminated, and live as long as the element.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simdjson_parser simdjson_parser;

/// A value of the document, or none at all when `document` is null.
typedef struct {
  const void *_Nullable document;
  size_t tape_index;
} simdjson_element;

typedef struct {
  const char *_Nullable data;
  size_t length;
} simdjson_string_view;

/// A place among the members of an object or the elements of an array.
typedef struct {
  simdjson_element next;
  simdjson_element end;
} simdjson_iterator;

/// How many bytes after a document must be readable; what they hold is of no matter.
extern const size_t simdjson_PADDING;
/// The error codes that callers tell apart; 0 is success.
extern const int simdjson_STRING_ERROR;
extern const int simdjson_NUMBER_ERROR;

/// The version of simdjson that this was built with.
extern const int simdjson_VERSION_MAJOR;
extern const int simdjson_VERSION_MINOR;
extern const int simdjson_VERSION_REVISION;

/// A parser for documents of at most `capacity` bytes, nested as deeply as that many bytes can be; null when there is no memory.
/// Memory is reserved here and touched only as far as a document needs it.
simdjson_parser *_Nullable simdjson_parser_new(size_t capacity);
void simdjson_parser_free(simdjson_parser *_Nonnull parser);
/// Parses and checks a whole document in place; `simdjson_PADDING` bytes after it must be readable. Gives simdjson's error code.
int simdjson_parser_parse(simdjson_parser *_Nonnull parser, const char *_Nonnull json, size_t length, simdjson_element *_Nonnull root);

/// simdjson's `element_type`: one of `[ { l u d " t n`, where `t` is a boolean of either value.
char simdjson_element_type(simdjson_element element);
bool simdjson_element_get_string(simdjson_element element, simdjson_string_view *_Nonnull value);
bool simdjson_element_get_int64(simdjson_element element, int64_t *_Nonnull value);
/// Any number, integers converted.
bool simdjson_element_get_double(simdjson_element element, double *_Nonnull value);
bool simdjson_element_get_bool(simdjson_element element, bool *_Nonnull value);

/// The members of an object; none when the element is no object.
simdjson_iterator simdjson_object_begin(simdjson_element element);
bool simdjson_object_next(simdjson_iterator *_Nonnull members, simdjson_string_view *_Nonnull key, simdjson_element *_Nonnull value);
/// The elements of an array; none when the element is no array.
simdjson_iterator simdjson_array_begin(simdjson_element element);
bool simdjson_array_next(simdjson_iterator *_Nonnull elements, simdjson_element *_Nonnull value);

/// A value on the way to a string, below its container.
typedef struct {
  simdjson_element container;
  simdjson_element child;
  /// The child's index among its siblings.
  size_t index;
  bool is_member;
} simdjson_step;

/// The maximum number of steps to a string.
enum { simdjson_maximum_depth = 32 };

/// A walk over the strings of a container, also those in containers within it.
typedef struct {
  /// The way to the last string, from outside.
  simdjson_step steps[simdjson_maximum_depth];
  size_t depth;
  size_t maximum_depth;
  /// How many values may still be read.
  size_t values;
  size_t next;
} simdjson_strings;

/// Begins a walk, which ends before the parser parses again. A string with more than `maximum_depth` steps is left out, and the walk ends after `values` values.
void simdjson_strings_begin(simdjson_strings *_Nonnull strings, simdjson_element container, size_t maximum_depth, size_t values);
/// Gives the next string that is not empty, in the order of the document; false at the end.
bool simdjson_strings_next(simdjson_strings *_Nonnull strings, simdjson_string_view *_Nonnull text);
/// The name of a step that is a member.
simdjson_string_view simdjson_step_name(simdjson_step step);

/// The last member of an object with that name, or none.
simdjson_element simdjson_object_find(simdjson_element element, simdjson_string_view key);

/// Keys in the order of their lengths, for look-ups of many.
typedef struct {
  const simdjson_string_view *_Nonnull keys;
  /// For each key the index of its value.
  const uint16_t *_Nonnull places;
  /// `keys[starts[n]..<starts[n + 1]]` are n bytes long; from 64 bytes on they are all under 64.
  const uint16_t *_Nonnull starts;
} simdjson_key_index;

/// Looks up many keys of an object in one pass over its members: `values`, all of them none before, gains the last member of each name.
/// Gives how many were found, and their places in `found`.
size_t simdjson_object_find_many(
    simdjson_element element, const simdjson_key_index *_Nonnull index, simdjson_element *_Nonnull values, uint16_t *_Nonnull found);

#ifdef __cplusplus
}
#endif
