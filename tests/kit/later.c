/* Preloaded into a process, a later date: CLOCK_REALTIME is ahead by LATER_SECONDS, every other clock is as it was.
 *
 * Only what asks for the date is answered here; pauses and locks measure the time that passes by CLOCK_MONOTONIC,
 * which a library that shifts all clocks (libfaketime) breaks. Time stamps of files stay those of the kernel.
 *
 *   cc -shared -fPIC -O2 -o later.so tests/kit/later.c
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
  static long seconds = -1;
  if (seconds < 0) {
    const char *text = getenv("LATER_SECONDS");
    seconds = text ? atol(text) : 0;
  }
  return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *found) {
  int result = (int)syscall(SYS_clock_gettime, clock, found);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) found->tv_sec += ahead();
  return result;
}

int gettimeofday(struct timeval *found, void *zone) {
  struct timespec exact;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  (void)zone;
  if (result == 0) {
    found->tv_sec = exact.tv_sec;
    found->tv_usec = exact.tv_nsec / 1000;
  }
  return result;
}

time_t time(time_t *found) {
  struct timespec exact;
  time_t result = clock_gettime(CLOCK_REALTIME, &exact) == 0 ? exact.tv_sec : (time_t)-1;
  if (found) *found = result;
  return result;
}
