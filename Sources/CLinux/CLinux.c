#include "CLinux.h"

int hush_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL, 0);
    if (flags < 0) return -1;
    return fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

void hush_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}
