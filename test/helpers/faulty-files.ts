// A C library, loaded before the daemon's own libraries (`LD_PRELOAD`), that returns errors and wrong answers for
// files, as networks, failing disks and other file systems do. It needs a C compiler.

import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Why this host cannot compile the library; null if it can. */
export const NO_COMPILER =
  spawnSync('cc', ['--version']).status === 0 ? null : 'there is no C compiler (cc) here'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache')

const SOURCE = String.raw`
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* FILE_FAULTS/open-NAME, read-NAME, close-NAME, look-NAME and list-NAME contain the number of an error; the existence
   of FILE_FAULTS/no-types and FILE_FAULTS/short switches these faults on. */
static int is_set(const char *rule) {
  char path[4096];
  const char *faults = getenv("FILE_FAULTS");
  if (!faults) return 0;
  snprintf(path, sizeof path, "%s/%s", faults, rule);
  int saved = errno, set = access(path, F_OK) == 0;
  errno = saved;
  return set;
}

static int is_xml(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, ".xml") != NULL;
}

static int asked(const char *what, const char *path) {
  const char *faults = getenv("FILE_FAULTS");
  const char *slash = strrchr(path, '/');
  char rule[4096], text[16] = "";
  if (!faults || !slash) return 0;
  snprintf(rule, sizeof rule, "%s/%s-%s", faults, what, slash + 1);
  static int (*real)(const char *, int, ...);
  if (!real) real = dlsym(RTLD_NEXT, "open64");
  int fd = real(rule, O_RDONLY);
  if (fd < 0) return 0;
  ssize_t (*reading)(int, void *, size_t) = dlsym(RTLD_NEXT, "read");
  reading(fd, text, sizeof text - 1);
  close(fd);
  return atoi(text);
}

static int asked_of(const char *call, int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return asked(call, path);
}

#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
    int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
    int saved = errno, error = asked("open", path); \
    if (error) { errno = error; return -1; } \
    errno = saved; \
    return real(path, flags, mode); \
  }
OPENS(open)
OPENS(open64)

#define PREADS(name) \
  ssize_t name(int fd, void *to, size_t size, off64_t at) { \
    ssize_t (*real)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, #name); \
    int error = asked_of("read", fd); \
    if (error) { errno = error; return -1; } \
    if (size > 777 && is_set("short") && is_xml(fd)) size = 777; \
    return real(fd, to, size, at); \
  }
PREADS(pread)
PREADS(pread64)

DIR *opendir(const char *path) {
  DIR *(*real)(const char *) = dlsym(RTLD_NEXT, "opendir");
  char plain[4096];
  snprintf(plain, sizeof plain, "%s", path);
  size_t length = strlen(plain);
  if (length > 1 && plain[length - 1] == '/') plain[length - 1] = 0;
  int error = asked("list", plain);
  if (error) { errno = error; return NULL; }
  return real(path);
}

/* libuv calls statx(2) by its number. */
#include <sys/syscall.h>
long syscall(long number, ...) {
  va_list rest; va_start(rest, number);
  long a[6];
  for (int n = 0; n < 6; n++) a[n] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_close) { /* libuv calls close by its number, too */
    int error = asked_of("close", (int)a[0]), closed = close((int)a[0]);
    if (error) { errno = error; return -1; }
    return closed;
  }
  long (*real)(long, ...) = dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_statx && a[1]) {
    int saved = errno, error = asked("look", (const char *)a[1]);
    if (error) { errno = error; return -1; }
    errno = saved;
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int has_no_types(void) { return is_set("no-types"); }

struct dirent64 *readdir64(DIR *directory) {
  struct dirent64 *(*real)(DIR *) = dlsym(RTLD_NEXT, "readdir64");
  struct dirent64 *entry = real(directory);
  if (entry && has_no_types()) entry->d_type = DT_UNKNOWN;
  return entry;
}
struct dirent *readdir(DIR *directory) { return (struct dirent *)readdir64(directory); }

int scandir64(const char *path, struct dirent64 ***list, int (*filter)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
  int (*real)(const char *, struct dirent64 ***, int (*)(const struct dirent64 *),
              int (*)(const struct dirent64 **, const struct dirent64 **)) = dlsym(RTLD_NEXT, "scandir64");
  int count = real(path, list, filter, compare);
  for (int n = 0; n < count && has_no_types(); n++) (*list)[n]->d_type = DT_UNKNOWN;
  return count;
}
int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **)) {
  return scandir64(path, (struct dirent64 ***)list, (void *)filter, (void *)compare);
}
`

/** Numbers of errno(3) on x86 and ARM. */
const NUMBERS = {
  EIO: 5,
  ENXIO: 6,
  ENOMEM: 12,
  EACCES: 13,
  ENFILE: 23,
  EMFILE: 24,
  ETIMEDOUT: 110,
  ESTALE: 116,
}
export type FileFault = keyof typeof NUMBERS

/** library returns the path of the library, and compiles it if its source changed. */
function library(): string {
  const hash = createHash('sha256').update(SOURCE).digest('hex').slice(0, 16)
  const path = join(CACHE, `file-faults-${hash}.so`)
  if (existsSync(path)) return path
  mkdirSync(CACHE, { recursive: true })
  const draft = `${path}.${process.pid}`
  execFileSync('cc', ['-shared', '-fPIC', '-w', '-O1', '-o', draft, '-x', 'c', '-', '-ldl'], {
    input: SOURCE,
  })
  renameSync(draft, path)
  return path
}

/** FaultyFiles sets and clears faults of one process. A change affects the next call of the process. */
export class FaultyFiles {
  readonly #rules: string
  readonly env: Record<string, string>

  /** `directory` is the place for the rules. */
  constructor(directory: string) {
    this.#rules = join(directory, 'file-faults')
    mkdirSync(this.#rules)
    this.env = { LD_PRELOAD: library(), FILE_FAULTS: this.#rules }
  }

  /** fail makes a call fail for each file of this name (`look` is stat), and `list` for each directory of this name. */
  fail(call: 'open' | 'read' | 'look' | 'list' | 'close', name: string, error: FileFault): void {
    writeFileSync(join(this.#rules, `${call}-${name}`), String(NUMBERS[error]))
  }

  /** shortenReads limits each read of a feed or its copy to 777 bytes. */
  shortenReads(): void {
    writeFileSync(join(this.#rules, 'short'), '')
  }

  /** hideTypes makes directories return entries without their type. */
  hideTypes(): void {
    writeFileSync(join(this.#rules, 'no-types'), '')
  }

  clearFaults(): void {
    rmSync(this.#rules, { recursive: true })
    mkdirSync(this.#rules)
  }
}
