// A small C face on simdjson, which Swift cannot import.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The bytes that must be readable behind a document.
size_t hush_json_padding(void);

#ifdef __cplusplus
}
#endif
