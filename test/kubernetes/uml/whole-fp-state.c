/*
 * Linux accepts the floating-point registers of a traced process only as a whole. user-mode-linux 6.1 has a buffer for the registers up to AVX-512;
 * with AMX there are more, and every process of it ends with "ptrace set fp regs failed". This library, preloaded, fills up the rest with what the
 * process has. Newer versions of user-mode-linux ask for the size.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

/* As in sys/ptrace.h, which declares ptrace with variable arguments. */
enum { get_regset = 0x4204, set_regset = 0x4205, xstate = 0x202, bytes_max = 64 * 1024 };

typedef long (*trace)(int, pid_t, void *, void *);

static long with_whole_state(trace real, int request, pid_t pid, struct iovec *known) {
  static char state[bytes_max] __attribute__((aligned(64)));
  struct iovec whole = {state, sizeof state};
  long result = real(get_regset, pid, (void *)xstate, &whole);
  if (result != 0) return result;
  if (known->iov_len > whole.iov_len) known->iov_len = whole.iov_len;
  if (request == get_regset) {
    memcpy(known->iov_base, state, known->iov_len);
    return 0;
  }
  memcpy(state, known->iov_base, known->iov_len);
  return real(set_regset, pid, (void *)xstate, &whole);
}

long ptrace(int request, pid_t pid, void *address, void *data) {
  static trace real;
  if (real == NULL) real = (trace)dlsym(RTLD_NEXT, "ptrace");
  if ((request == get_regset || request == set_regset) && (long)address == xstate)
    return with_whole_state(real, request, pid, data);
  return real(request, pid, address, data);
}
