// The system interfaces that Swift's Glibc module leaves out.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <netinet/tcp.h>
#include <unistd.h>

/// Makes a descriptor non-blocking; 0, or -1 with errno.
int hush_set_nonblocking(int descriptor);

/// Names the calling thread as `top -H` and perf show it (15 bytes at most).
void hush_name_thread(const char *name);
