/*
 * Preloaded into a process: journals what it does to the names and the contents of files under one
 * directory, in the order in which it happens, and what it says on one descriptor in the same
 * order. Syncs are journaled and not carried out: nothing here depends on the disk beneath.
 *
 * POWERCUT_ROOT     the directory, absolute and without symlinks
 * POWERCUT_JOURNAL  the file for the journal, outside of it
 * POWERCUT_SAY      the descriptor
 * POWERCUT_SYNC_US  a sync takes up to so many microseconds
 * POWERCUT_TABLE_US and that of a table so many more
 *
 * LevelDB writes through stdio, whose own calls to write(2) cannot be seen from here. So what a
 * call of stdio has added to its file is read back after it.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Macros in some versions of libc. */
#undef fwrite_unlocked
#undef fflush_unlocked

enum {
  OPEN = 1, CLOSE, WRITE, TRUNCATE, RENAME, UNLINK, MKDIR, RMDIR, SYNC_BEGIN, SYNC_END, SAY, LINK
};

#define MAX_FDS 4096
#define TABLE 2
#define MAX_STREAMS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[4096];
static size_t root_length;
static int journal = -1;
static int say_fd = -1;
static unsigned sync_us, table_us;
static char watched[MAX_FDS];
/* Opened with O_DSYNC: each write is synced before it returns. */
static char durable[MAX_FDS];
static struct { dev_t device; ino_t inode; } files[MAX_FDS];
static uint32_t syncs;

/* Streams of stdio that write: how much of the file was journaled. */
static struct { FILE *stream; int fd, reader; off_t size; } streams[MAX_STREAMS];

#define REAL(result, name, ...)                                            \
  static result (*real_##name)(__VA_ARGS__);                               \
  if (!real_##name) real_##name = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static ssize_t plain_write(int fd, const void *bytes, size_t length) {
  REAL(ssize_t, write, int, const void *, size_t);
  return real_write(fd, bytes, length);
}

static void die(const char *why) {
  plain_write(2, "powercut-shim: ", 15);
  plain_write(2, why, strlen(why));
  plain_write(2, "\n", 1);
  _exit(97);
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("POWERCUT_ROOT"), *to = getenv("POWERCUT_JOURNAL");
  if (!path || !to) return;
  REAL(int, open64, const char *, int, ...);
  strncpy(root, path, sizeof root - 1);
  root_length = strlen(root);
  if (getenv("POWERCUT_SAY")) say_fd = atoi(getenv("POWERCUT_SAY"));
  if (getenv("POWERCUT_SYNC_US")) sync_us = atoi(getenv("POWERCUT_SYNC_US"));
  if (getenv("POWERCUT_TABLE_US")) table_us = atoi(getenv("POWERCUT_TABLE_US"));
  journal = real_open64(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (journal < 0) die("no journal");
}

static int inside(const char *path) {
  if (journal < 0 || !path) return 0;
  if (path[0] != '/') return 0;
  return !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

/*
 * libuv closes with syscall(2), which is not seen here: a number may be that of something else by
 * now, of the pipe that wakes a thread for one.
 */
static int watching(int fd) {
  if (journal < 0 || fd < 0 || fd >= MAX_FDS || !watched[fd]) return 0;
  struct stat found;
  if (fstat(fd, &found)) return 0;
  return found.st_dev == files[fd].device && found.st_ino == files[fd].inode;
}

/* A record: its length, a type, two numbers, 64 bits of offset, bytes. */
static void note(int type, uint32_t a, uint32_t b, uint64_t offset, const void *bytes, size_t n) {
  struct __attribute__((packed)) {
    uint32_t length, type, a, b;
    uint64_t offset;
  } header = {(uint32_t)n, type, a, b, offset};
  REAL(ssize_t, writev, int, const struct iovec *, int);
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)bytes, n}};
  ssize_t total = sizeof header + n;
  if (real_writev(journal, parts, 2) != total) die("the journal cannot be written");
}

static void note_paths(int type, const char *from, const char *to) {
  char both[8192];
  int length = snprintf(both, sizeof both, "%s%c%s", from, 0, to);
  note(type, 0, 0, 0, both, length);
}

/* ---- open and close ---- */

static int opened(const char *path, int flags, int fd) {
  if (fd < 0) return fd;
  if (fd >= MAX_FDS) die("too many descriptors");
  const char *ending = strrchr(path, '.');
  struct stat found;
  if (fstat(fd, &found)) die("a file that was opened cannot be looked at");
  files[fd].device = found.st_dev;
  files[fd].inode = found.st_ino;
  watched[fd] = ending && !strcmp(ending, ".ldb") ? TABLE : 1;
  durable[fd] = (flags & O_DSYNC) == O_DSYNC;
  note(OPEN, fd, flags & (O_CREAT | O_TRUNC | O_EXCL | O_ACCMODE), 0, path, strlen(path));
  return fd;
}

#define OPEN_BODY(call)                                                    \
  mode_t mode = 0;                                                         \
  if (flags & (O_CREAT | O_TMPFILE)) {                                     \
    va_list rest;                                                          \
    va_start(rest, flags);                                                 \
    mode = va_arg(rest, mode_t);                                           \
    va_end(rest);                                                          \
  }                                                                        \
  if (!inside(path)) return call;                                          \
  pthread_mutex_lock(&lock);                                               \
  int fd = opened(path, flags, call);                                      \
  int error = errno;                                                       \
  pthread_mutex_unlock(&lock);                                             \
  errno = error;                                                           \
  return fd

/* No sync is carried out, so neither is that of each write. */
#define JOURNALED(flags) (inside(path) ? (flags) & ~O_DSYNC : (flags))

int open(const char *path, int flags, ...) {
  REAL(int, open, const char *, int, ...);
  OPEN_BODY(real_open(path, JOURNALED(flags), mode));
}
int open64(const char *path, int flags, ...) {
  REAL(int, open64, const char *, int, ...);
  OPEN_BODY(real_open64(path, JOURNALED(flags), mode));
}
int openat(int at, const char *path, int flags, ...) {
  REAL(int, openat, int, const char *, int, ...);
  OPEN_BODY(real_openat(at, path, JOURNALED(flags), mode));
}
int openat64(int at, const char *path, int flags, ...) {
  REAL(int, openat64, int, const char *, int, ...);
  OPEN_BODY(real_openat64(at, path, JOURNALED(flags), mode));
}

int close(int fd) {
  REAL(int, close, int);
  if (!watching(fd)) return real_close(fd);
  pthread_mutex_lock(&lock);
  watched[fd] = 0;
  note(CLOSE, fd, 0, 0, "", 0);
  int result = real_close(fd);
  pthread_mutex_unlock(&lock);
  return result;
}

/* ---- writing ---- */

static int synced(int fd, void *caller);

/* What a write to such a file does before it returns. */
static ssize_t written(int fd, ssize_t done, int error) {
  if (done > 0 && durable[fd]) synced(fd, NULL);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (journal >= 0 && fd == say_fd) {
    pthread_mutex_lock(&lock);
    note(SAY, 0, 0, 0, bytes, length);
    pthread_mutex_unlock(&lock);
    return length;
  }
  if (!watching(fd)) return plain_write(fd, bytes, length);
  pthread_mutex_lock(&lock);
  ssize_t done = plain_write(fd, bytes, length);
  int error = errno;
  /* Right for O_APPEND as well: the position is behind what was written. */
  if (done > 0) note(WRITE, fd, 0, lseek(fd, 0, SEEK_CUR) - done, bytes, done);
  pthread_mutex_unlock(&lock);
  return written(fd, done, error);
}

static void note_parts(int fd, const struct iovec *parts, int count, off_t at, ssize_t done) {
  for (int i = 0; i < count && done > 0; i++) {
    ssize_t n = (ssize_t)parts[i].iov_len < done ? (ssize_t)parts[i].iov_len : done;
    note(WRITE, fd, 0, at, parts[i].iov_base, n);
    at += n;
    done -= n;
  }
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  if (!watching(fd)) return real_writev(fd, parts, count);
  pthread_mutex_lock(&lock);
  ssize_t done = real_writev(fd, parts, count);
  int error = errno;
  if (done > 0) note_parts(fd, parts, count, lseek(fd, 0, SEEK_CUR) - done, done);
  pthread_mutex_unlock(&lock);
  return written(fd, done, error);
}

#define PWRITE(name)                                                       \
  ssize_t name(int fd, const void *bytes, size_t length, off_t at) {       \
    REAL(ssize_t, name, int, const void *, size_t, off_t);                 \
    if (!watching(fd)) return real_##name(fd, bytes, length, at);          \
    pthread_mutex_lock(&lock);                                             \
    ssize_t done = real_##name(fd, bytes, length, at);                     \
    int error = errno;                                                     \
    if (done > 0) note(WRITE, fd, 0, at, bytes, done);                     \
    pthread_mutex_unlock(&lock);                                           \
    return written(fd, done, error);                                       \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name)                                                      \
  ssize_t name(int fd, const struct iovec *parts, int count, off_t at) {   \
    REAL(ssize_t, name, int, const struct iovec *, int, off_t);            \
    if (!watching(fd)) return real_##name(fd, parts, count, at);           \
    pthread_mutex_lock(&lock);                                             \
    ssize_t done = real_##name(fd, parts, count, at);                      \
    int error = errno;                                                     \
    if (done > 0) note_parts(fd, parts, count, at, done);                  \
    pthread_mutex_unlock(&lock);                                           \
    return written(fd, done, error);                                       \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define FTRUNCATE(name)                                                    \
  int name(int fd, off_t length) {                                         \
    REAL(int, name, int, off_t);                                           \
    if (!watching(fd)) return real_##name(fd, length);                     \
    pthread_mutex_lock(&lock);                                             \
    int result = real_##name(fd, length);                                  \
    if (!result) note(TRUNCATE, fd, 0, length, "", 0);                     \
    pthread_mutex_unlock(&lock);                                           \
    return result;                                                         \
  }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

/* ---- stdio ---- */

static int slot_of(FILE *stream) {
  for (int i = 0; i < MAX_STREAMS; i++) if (streams[i].stream == stream) return i;
  return -1;
}

static void capture(int slot) {
  char bytes[65536];
  for (;;) {
    ssize_t n = pread(streams[slot].reader, bytes, sizeof bytes, streams[slot].size);
    if (n < 0) die("what was written cannot be read back");
    if (n == 0) return;
    note(WRITE, streams[slot].fd, 0, streams[slot].size, bytes, n);
    streams[slot].size += n;
  }
}

static FILE *stream_of(const char *path, const char *mode, FILE *stream) {
  if (!stream) return stream;
  REAL(int, open64, const char *, int, ...);
  int slot = slot_of(NULL);
  if (slot < 0) die("too many streams");
  streams[slot].stream = stream;
  streams[slot].fd = fileno(stream);
  streams[slot].reader = real_open64(path, O_RDONLY | O_CLOEXEC);
  if (streams[slot].reader < 0) die("a file that was opened to write cannot be read");
  streams[slot].size = mode[0] == 'a' ? lseek(streams[slot].reader, 0, SEEK_END) : 0;
  opened(path, O_WRONLY | O_CREAT | (mode[0] == 'w' ? O_TRUNC : 0), streams[slot].fd);
  return stream;
}

#define FOPEN(name)                                                        \
  FILE *name(const char *path, const char *mode) {                         \
    REAL(FILE *, name, const char *, const char *);                        \
    if (!inside(path) || (mode[0] == 'r' && !strchr(mode, '+')))           \
      return real_##name(path, mode);                                      \
    if (mode[0] == 'r' || strchr(mode, '+')) die("a mode of fopen");       \
    pthread_mutex_lock(&lock);                                             \
    FILE *stream = stream_of(path, mode, real_##name(path, mode));         \
    pthread_mutex_unlock(&lock);                                           \
    return stream;                                                         \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define THROUGH(stream, call)                                              \
  if (journal < 0 || !stream) return call;                                 \
  pthread_mutex_lock(&lock);                                               \
  int slot = slot_of(stream);                                              \
  __typeof__(call) result = call;                                          \
  int error = errno;                                                       \
  if (slot >= 0) capture(slot);                                            \
  pthread_mutex_unlock(&lock);                                             \
  errno = error;                                                           \
  return result

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *stream) {
  REAL(size_t, fwrite, const void *, size_t, size_t, FILE *);
  THROUGH(stream, real_fwrite(bytes, size, count, stream));
}
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *stream) {
  REAL(size_t, fwrite_unlocked, const void *, size_t, size_t, FILE *);
  THROUGH(stream, real_fwrite_unlocked(bytes, size, count, stream));
}
int fflush(FILE *stream) {
  REAL(int, fflush, FILE *);
  THROUGH(stream, real_fflush(stream));
}
int fflush_unlocked(FILE *stream) {
  REAL(int, fflush_unlocked, FILE *);
  THROUGH(stream, real_fflush_unlocked(stream));
}

int fclose(FILE *stream) {
  REAL(int, fclose, FILE *);
  REAL(int, fflush, FILE *);
  REAL(int, close, int);
  if (journal < 0) return real_fclose(stream);
  pthread_mutex_lock(&lock);
  int slot = slot_of(stream);
  if (slot >= 0) {
    real_fflush(stream);
    capture(slot);
    note(CLOSE, streams[slot].fd, 0, 0, "", 0);
    watched[streams[slot].fd] = 0;
    real_close(streams[slot].reader);
    streams[slot].stream = NULL;
  }
  int result = real_fclose(stream);
  pthread_mutex_unlock(&lock);
  return result;
}

/* ---- names ---- */

#define NAMED(condition, call, record)                                     \
  if (!(condition)) return call;                                           \
  pthread_mutex_lock(&lock);                                               \
  int result = call;                                                       \
  int error = errno;                                                       \
  if (!result) record;                                                     \
  pthread_mutex_unlock(&lock);                                             \
  errno = error;                                                           \
  return result

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  NAMED(inside(from) || inside(to), real_rename(from, to), note_paths(RENAME, from, to));
}
int link(const char *from, const char *to) {
  REAL(int, link, const char *, const char *);
  NAMED(inside(from) || inside(to), real_link(from, to), note_paths(LINK, from, to));
}
int unlink(const char *path) {
  REAL(int, unlink, const char *);
  NAMED(inside(path), real_unlink(path), note(UNLINK, 0, 0, 0, path, strlen(path)));
}
int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  NAMED(inside(path), real_mkdir(path, mode), note(MKDIR, 0, 0, 0, path, strlen(path)));
}
int rmdir(const char *path) {
  REAL(int, rmdir, const char *);
  NAMED(inside(path), real_rmdir(path), note(RMDIR, 0, 0, 0, path, strlen(path)));
}

/* ---- syncs ---- */

/* Whether LevelDB itself calls, and not Node for the project. */
static int by_level(void *caller) {
  Dl_info info;
  return caller && dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "classic-level") != NULL;
}

static int synced(int fd, void *caller) {
  pthread_mutex_lock(&lock);
  uint32_t number = ++syncs;
  note(SYNC_BEGIN, fd, by_level(caller), number, "", 0);
  unsigned wait = sync_us ? (number * 2654435761u >> 8) % sync_us : 0;
  /* Tables are the larger files; behind their syncs LevelDB makes names last as well. */
  if (watched[fd] == TABLE) wait += table_us;
  pthread_mutex_unlock(&lock);
  if (wait) usleep(wait);
  pthread_mutex_lock(&lock);
  note(SYNC_END, fd, 0, number, "", 0);
  pthread_mutex_unlock(&lock);
  return 0;
}

int fsync(int fd) {
  REAL(int, fsync, int);
  return watching(fd) ? synced(fd, __builtin_return_address(0)) : real_fsync(fd);
}
int fdatasync(int fd) {
  REAL(int, fdatasync, int);
  return watching(fd) ? synced(fd, __builtin_return_address(0)) : real_fdatasync(fd);
}
