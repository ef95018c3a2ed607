#include "CSimdjson.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <simdjson.h>
#include <string>

using namespace simdjson;

struct hush_json_parser {
    dom::parser parser;
    hush_json_node *nodes = nullptr;
    uint32_t node_count = 0;
    uint32_t node_capacity = 0;

    explicit hush_json_parser(size_t bytes_max) : parser(bytes_max) {}
    ~hush_json_parser() { std::free(nodes); }
};

namespace {

// Every problem that simdjson finds, in the words of the C face.
int fault_of(error_code error) {
    switch (error) {
    case SUCCESS: return HUSH_JSON_OK;
    case EMPTY: return HUSH_JSON_EMPTY;
    case CAPACITY: return HUSH_JSON_TOO_LONG;
    case DEPTH_ERROR: return HUSH_JSON_TOO_DEEP;
    case UTF8_ERROR: return HUSH_JSON_NOT_UTF8;
    case NUMBER_ERROR: return HUSH_JSON_NUMBER;
    case MEMALLOC: return HUSH_JSON_NO_MEMORY;
    default: return HUSH_JSON_SYNTAX;
    }
}

// simdjson's tape (its doc/tape.md): a word is a letter in the top byte and a payload below it. Strings lie in a buffer
// of their own, each behind its length in four bytes; a number's value is the word behind its letter.
class TapeReader {
    hush_json_parser &p;
    const uint64_t *tape;
    const uint8_t *strings;

    struct Text {
        const uint8_t *bytes;
        uint32_t length;
    };

    Text text_at(uint64_t word) const {
        const uint8_t *start = strings + (word & internal::JSON_VALUE_MASK);
        uint32_t length;
        std::memcpy(&length, start, sizeof length);
        return {start + sizeof length, length};
    }

    bool add_node(Text key, uint32_t &index) {
        if (p.node_count == p.node_capacity) {
            uint32_t capacity = p.node_capacity ? p.node_capacity * 2 : 64;
            void *grown = std::realloc(p.nodes, capacity * sizeof(hush_json_node));
            if (!grown) return false;
            p.nodes = static_cast<hush_json_node *>(grown);
            p.node_capacity = capacity;
        }
        index = p.node_count++;
        p.nodes[index] = hush_json_node{key.bytes, nullptr, {0}, key.length, 0, 0, 1, HUSH_JSON_NULL};
        return true;
    }

    // Takes in the members up to the closing word; the parser has checked the depth, so the recursion is bounded by it.
    bool add_members(size_t &at, uint32_t index, bool keyed) {
        const uint64_t closing = (tape[at] & 0xffffffff) - 1;
        uint32_t count = 0;
        for (at++; at < closing; count++) {
            Text key = {nullptr, 0};
            if (keyed) key = text_at(tape[at++]);
            if (!add(at, key)) return false;
        }
        at = closing + 1;
        p.nodes[index].type = keyed ? HUSH_JSON_OBJECT : HUSH_JSON_ARRAY;
        p.nodes[index].count = count;
        p.nodes[index].span = p.node_count - index;
        return true;
    }

    bool add(size_t &at, Text key) {
        uint32_t index;
        if (!add_node(key, index)) return false;
        hush_json_node &node = p.nodes[index];
        const uint64_t word = tape[at];
        switch (char(word >> 56)) {
        case '{': return add_members(at, index, true);
        case '[': return add_members(at, index, false);
        case '"': {
            Text text = text_at(word);
            node.type = HUSH_JSON_STRING;
            node.text = text.bytes;
            node.text_length = text.length;
            break;
        }
        case 'l':
            node.type = HUSH_JSON_INTEGER;
            node.number.integer = int64_t(tape[++at]);
            break;
        case 'u':
            node.type = HUSH_JSON_HUGE;
            node.number.natural = tape[++at];
            break;
        case 'd':
            node.type = HUSH_JSON_REAL;
            std::memcpy(&node.number.real, &tape[++at], sizeof(double));
            break;
        case 't': node.type = HUSH_JSON_TRUE; break;
        case 'f': node.type = HUSH_JSON_FALSE; break;
        default: break;
        }
        at++;
        return true;
    }

public:
    explicit TapeReader(hush_json_parser &p)
        : p(p), tape(p.parser.doc.tape.get()), strings(p.parser.doc.string_buf.get()) {}

    // The root stands behind the tape's first word. False where memory ran out.
    bool read() {
        size_t at = 1;
        return add(at, {nullptr, 0});
    }
};

// Whether the digits of a whole number say more than 64 bits hold.
bool is_beyond_64_bits(const uint8_t *digits, size_t count, bool negative) {
    const char *limit = negative ? "9223372036854775808" : "18446744073709551615";
    const size_t limit_count = std::strlen(limit);
    return count > limit_count || (count == limit_count && std::memcmp(digits, limit, count) > 0);
}

// Copies a document, with ".0" behind whole numbers beyond 64 bits, so that they are read as the nearest doubles (RFC
// 8259, section 6); simdjson refuses them. False where there is none.
bool widen_integers(const uint8_t *bytes, size_t length, std::string &wide) {
    size_t copied = 0;
    bool in_string = false;
    for (size_t at = 0; at < length;) {
        const uint8_t byte = bytes[at];
        if (in_string || byte < '0' || byte > '9') {
            if (byte == '"') in_string = !in_string;
            at += in_string && byte == '\\' ? 2 : 1;
            continue;
        }
        const size_t start = at;
        while (at < length && bytes[at] >= '0' && bytes[at] <= '9') at++;
        const bool whole = at == length || (bytes[at] != '.' && bytes[at] != 'e' && bytes[at] != 'E');
        // A fraction or an exponent has digits too.
        const uint8_t before = start > 0 ? bytes[start - 1] : ' ';
        const bool leads = before != '.' && before != 'e' && before != 'E' && before != '+';
        const bool exponent = before == '-' && start > 1 && (bytes[start - 2] == 'e' || bytes[start - 2] == 'E');
        if (!whole || !leads || exponent || !is_beyond_64_bits(bytes + start, at - start, before == '-')) continue;
        wide.append(reinterpret_cast<const char *>(bytes) + copied, at - copied).append(".0");
        copied = at;
    }
    if (copied == 0) return false;
    wide.append(reinterpret_cast<const char *>(bytes) + copied, length - copied);
    return true;
}

} // namespace

extern "C" hush_json_parser *hush_json_new(size_t bytes_max, uint32_t depth_max) {
    hush_json_parser *parser = new (std::nothrow) hush_json_parser(bytes_max);
    if (!parser) return nullptr;
    size_t first_bytes = bytes_max < 4096 ? bytes_max : 4096;
    if (parser->parser.allocate(first_bytes, depth_max) != SUCCESS) {
        delete parser;
        return nullptr;
    }
    return parser;
}

extern "C" void hush_json_free(hush_json_parser *parser) { delete parser; }

extern "C" int hush_json_parse(hush_json_parser *parser, const void *bytes, size_t length) {
    parser->node_count = 0;
    dom::element root;
    error_code error = parser->parser.parse(static_cast<const uint8_t *>(bytes), length).get(root);
    std::string wide;
    if (error == NUMBER_ERROR && widen_integers(static_cast<const uint8_t *>(bytes), length, wide)) {
        error = parser->parser.parse(wide).get(root);
    }
    if (error) return fault_of(error);
    if (!root.is_object()) return HUSH_JSON_NOT_OBJECT;
    return TapeReader(*parser).read() ? HUSH_JSON_OK : HUSH_JSON_NO_MEMORY;
}

extern "C" const hush_json_node *hush_json_nodes(const hush_json_parser *parser) { return parser->nodes; }
