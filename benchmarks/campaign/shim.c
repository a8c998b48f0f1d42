/* Preloaded before the C library: disks that fail now and then, and a wall clock that jumps.

CAMPAIGN_FOLDER  calls on files below it may fail
CAMPAIGN_ERRNO   with this error
CAMPAIGN_EVERY   one call in so many
CAMPAIGN_CLOCK_S the wall clock is wrong by up to so many seconds, each two seconds by another amount
CAMPAIGN_SEED    of the draws, together with the process's number
CAMPAIGN_LEDGER  a line is added to this file for every failed call and every jump that a process has seen
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char *text(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int64_t number(const char *name) {
    const char *value = text(name);
    return value ? strtoll(value, NULL, 10) : 0;
}

/* One step of splitmix64: a state in, well-mixed bits out. */
static uint64_t mixed(uint64_t state) {
    state += 0x9e3779b97f4a7c15u;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
    return state ^ (state >> 31);
}

/* By system calls alone: what is called here must not be caught here. */
static void note(const char *what) {
    const char *ledger = text("CAMPAIGN_LEDGER");
    int file = ledger ? (int)syscall(SYS_openat, AT_FDCWD, ledger, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;
    if (file < 0)
        return;
    syscall(SYS_write, file, what, strlen(what));
    syscall(SYS_close, file);
}

static int chosen(void) {
    static uint64_t n_calls;
    int64_t every = number("CAMPAIGN_EVERY");
    uint64_t draw = mixed(mixed((uint64_t)number("CAMPAIGN_SEED") ^ ((uint64_t)getpid() << 32)) ^
                          __atomic_fetch_add(&n_calls, 1, __ATOMIC_RELAXED));
    return every > 0 && draw % (uint64_t)every == 0;
}

static int fails(const char *path) {
    const char *folder = text("CAMPAIGN_FOLDER");
    if (!folder || !path || strncmp(path, folder, strlen(folder)) || !chosen())
        return 0;
    note("disk\n");
    errno = (int)number("CAMPAIGN_ERRNO");
    return 1;
}

static int fails_open(int file) {
    char link[64], path[PATH_MAX];
    if (!text("CAMPAIGN_FOLDER"))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return fails(path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void *content, size_t length) {
    return fails_open(file) ? -1 : REAL(write)(file, content, length);
}

ssize_t pwrite64(int file, const void *content, size_t length, off64_t offset) {
    return fails_open(file) ? -1 : REAL(pwrite64)(file, content, length, offset);
}

int fsync(int file) {
    return fails_open(file) ? -1 : REAL(fsync)(file);
}

int rename(const char *from, const char *to) {
    return fails(to) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    return fails(path) ? -1 : REAL(mkdir)(path, mode);
}

/* Seconds by which the wall clock is wrong now. */
static int64_t jump(void) {
    static uint64_t seen;
    int64_t most = number("CAMPAIGN_CLOCK_S");
    struct timespec since;
    if (most <= 0)
        return 0;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &since);
    uint64_t turn = (uint64_t)since.tv_sec / 2;
    if (__atomic_exchange_n(&seen, turn, __ATOMIC_RELAXED) != turn)
        note("clock\n");
    uint64_t draw = mixed((uint64_t)number("CAMPAIGN_SEED") ^ mixed(turn));
    return (int64_t)(draw % (uint64_t)(2 * most + 1)) - most;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int code = (int)syscall(SYS_clock_gettime, clock, now);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += jump();
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec exact;
    int code = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return code;
}

time_t time(time_t *place) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (place)
        *place = exact.tv_sec;
    return exact.tv_sec;
}
