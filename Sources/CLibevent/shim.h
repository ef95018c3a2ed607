#pragma once
// First, so that glibc's features are settled before libevent's configuration defines _GNU_SOURCE: with it, fd_set
// would have other members here than in the other modules, and Swift refuses two definitions of one type.
#include <sys/types.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
