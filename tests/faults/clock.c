/* A clock that a test sets, for the processes that load it (LD_PRELOAD).

   CHAOS_CLOCK names a file of eight bytes: how many seconds the time of day is off. It is mapped,
   so a change is seen at once by all of them. CLOCK_MONOTONIC is left alone, as it is when an
   administrator or NTP sets the time of day. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static int64_t nothing;
static volatile int64_t *off = &nothing;
static int (*right)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("CHAOS_CLOCK");
  int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  void *at = file < 0 ? MAP_FAILED : mmap(0, sizeof *off, PROT_READ, MAP_SHARED, file, 0);
  if (at != MAP_FAILED)
    off = at;
}

int clock_gettime(clockid_t clock, struct timespec *t) {
  if (!right)
    right = dlsym(RTLD_NEXT, "clock_gettime");
  int answer = right(clock, t);
  if (answer == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    t->tv_sec += *off;
  return answer;
}

int gettimeofday(struct timeval *t, void *zone) {
  struct timespec now;
  int answer = clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return answer;
}

time_t time(time_t *t) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (t)
    *t = now.tv_sec;
  return now.tv_sec;
}
