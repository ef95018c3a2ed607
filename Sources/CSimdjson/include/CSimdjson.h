// A small C face on simdjson, which Swift cannot import: one document in, one flat array of nodes out.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum hush_json_type {
    HUSH_JSON_NULL = 0,
    HUSH_JSON_FALSE = 1,
    HUSH_JSON_TRUE = 2,
    /// A whole number that fits `number.integer`.
    HUSH_JSON_INTEGER = 3,
    /// A number with a fraction or an exponent, in `number.real`.
    HUSH_JSON_REAL = 4,
    /// A whole number from 2^63 to 2^64 - 1, in `number.natural`.
    HUSH_JSON_HUGE = 5,
    HUSH_JSON_STRING = 6,
    HUSH_JSON_ARRAY = 7,
    HUSH_JSON_OBJECT = 8,
};

/// One value. Nodes stand in the order of the document: the first child of an array or object follows it directly, and
/// `span` nodes on stands the value behind it.
struct hush_json_node {
    /// The member's name, unescaped; NULL in arrays and at the root.
    const uint8_t *key;
    /// Strings: the unescaped text. Else NULL.
    const uint8_t *text;
    union {
        int64_t integer;
        uint64_t natural;
        double real;
    } number;
    uint32_t key_length;
    uint32_t text_length;
    /// Arrays and objects: how many values stand directly inside.
    uint32_t count;
    /// The nodes of this value: its own and all inside it.
    uint32_t span;
    uint32_t type;
};

enum hush_json_fault {
    HUSH_JSON_OK = 0,
    HUSH_JSON_EMPTY,
    HUSH_JSON_TOO_LONG,
    HUSH_JSON_TOO_DEEP,
    HUSH_JSON_NOT_UTF8,
    /// The root is no object.
    HUSH_JSON_NOT_OBJECT,
    /// A number that is malformed, or beyond what 64 bits hold.
    HUSH_JSON_NUMBER,
    HUSH_JSON_SYNTAX,
    HUSH_JSON_NO_MEMORY,
};

struct hush_json_parser;

/// NULL where memory ran out. `bytes_max` bounds a document, `depth_max` its nesting.
struct hush_json_parser *hush_json_new(size_t bytes_max, uint32_t depth_max);
void hush_json_free(struct hush_json_parser *parser);

/// Parses one document, which is copied; whatever an earlier call returned becomes invalid. Returns a hush_json_fault.
int hush_json_parse(struct hush_json_parser *parser, const void *bytes, size_t length);

/// The nodes of the last document that parsed; the root is the first.
const struct hush_json_node *hush_json_nodes(const struct hush_json_parser *parser);

#ifdef __cplusplus
}
#endif
