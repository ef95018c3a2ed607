#include "CSimdjson.h"
#include <simdjson.h>

size_t hush_json_padding(void) { return simdjson::SIMDJSON_PADDING; }
