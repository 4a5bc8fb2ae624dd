// Interposes the file calls of a process, for paths below the directory CRASH_ROOT: records them in the file CRASH_LOG, and
// makes chosen ones fail. The process gives its orders as calls of access() for paths that do not exist:
// - CRASH_ROOT/@mark/<text> records a mark;
// - CRASH_ROOT/@fail/<call>/<k>/<error>/<lasting> makes the k-th call of this name from now on fail, and all later ones if
//   `lasting` is 1. The error is a number of errno.h, or -1 for a read or a write of half the bytes, -2 for an early end of
//   the file;
// - CRASH_ROOT/@calm ends that;
// - CRASH_ROOT/@reached/<k> is there if there were k calls of this name since then;
// - CRASH_ROOT/@crash stops the file system of CRASH_ROOT as a crash does: nothing more is written, its log included.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 65536
#define SHORT -1
#define END -2
/* XFS_IOC_GOINGDOWN, which ext4 has as well, without flushing the log. */
#define GOING_DOWN _IOR('X', 125, uint32_t)
#define WITHOUT_LOG 2

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[4096];
static size_t root_length;
static int log_file = -1;
/* The files below the root, by descriptor. Node closes files by a system call that is not seen here, so the number may have
   another file by now: the inode tells. */
static struct { dev_t device; ino_t inode; } watched[FILES];

static struct {
  char call[32];
  long at;
  int error;
  int lasting;
  long seen;
} fault;

/* The function of the C library that one of ours stands in front of. */
#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void record(const char *format, ...) {
  if (log_file < 0) return;
  va_list arguments;
  va_start(arguments, format);
  vdprintf(log_file, format, arguments);
  va_end(arguments);
}

static void record_bytes(const char *data, size_t length) {
  if (log_file < 0) return;
  char *text = malloc(2 * length + 2);
  for (size_t index = 0; index < length; index++) sprintf(text + 2 * index, "%02x", (unsigned char)data[index]);
  text[2 * length] = '\n';
  for (size_t done = 0; done < 2 * length + 1;) {
    ssize_t count = REAL(write)(log_file, text + done, 2 * length + 1 - done);
    if (count <= 0) abort();
    done += count;
  }
  free(text);
}

__attribute__((constructor)) static void begin(void) {
  const char *directory = getenv("CRASH_ROOT");
  const char *log = getenv("CRASH_LOG");
  if (directory == NULL) return;
  snprintf(root, sizeof root, "%s", directory);
  root_length = strlen(root);
  if (log != NULL) log_file = REAL(open)(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
  return root_length > 0 && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static int is_watched(int file) {
  struct stat found;
  return file >= 0 && file < FILES && watched[file].inode != 0 && fstat(file, &found) == 0 &&
         found.st_dev == watched[file].device && found.st_ino == watched[file].inode;
}

static void watch(int file) {
  struct stat found;
  if (file >= FILES || fstat(file, &found) != 0) return;
  watched[file].device = found.st_dev;
  watched[file].inode = found.st_ino;
}

/* 0, or what the next call of this name fails with. The caller holds the mutex. */
static int failure(const char *call) {
  if (strcmp(fault.call, call) != 0) return 0;
  fault.seen++;
  if (fault.seen != fault.at && !(fault.lasting && fault.seen > fault.at)) return 0;
  return fault.error;
}

#define LOCK() pthread_mutex_lock(&mutex)
#define UNLOCK() do { int kept = errno; pthread_mutex_unlock(&mutex); errno = kept; } while (0)
#define FAIL(call) \
  do { int error = failure(call); if (error > 0) { UNLOCK(); errno = error; return -1; } } while (0)

static int order(const char *text) {
  if (strncmp(text, "mark/", 5) == 0) {
    record("mark\t%s\n", text + 5);
    return 0;
  }
  if (strncmp(text, "fail/", 5) == 0) {
    memset(&fault, 0, sizeof fault);
    if (sscanf(text, "fail/%31[a-z]/%ld/%d/%d", fault.call, &fault.at, &fault.error, &fault.lasting) != 4) abort();
    return 0;
  }
  if (strcmp(text, "calm") == 0) {
    fault.call[0] = 0; /* The count stays. */
    return 0;
  }
  if (strcmp(text, "crash") == 0) {
    uint32_t how = WITHOUT_LOG;
    int directory = REAL(open)(root, O_RDONLY | O_CLOEXEC);
    return directory < 0 ? -1 : ioctl(directory, GOING_DOWN, &how);
  }
  if (strncmp(text, "reached/", 8) == 0 && fault.seen >= atol(text + 8)) return 0;
  errno = ENOENT;
  return -1;
}

int access(const char *path, int mode) {
  if (!is_below(path) || strncmp(path + root_length, "/@", 2) != 0) return REAL(access)(path, mode);
  LOCK();
  int result = order(path + root_length + 2);
  UNLOCK();
  return result;
}

static int opened(int (*open_it)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  if (!is_below(path)) return open_it(path, flags, mode);
  LOCK();
  FAIL("open");
  int existed = REAL(access)(path, F_OK) == 0;
  int file = open_it(path, flags, mode);
  if (file >= 0) {
    watch(file);
    record("open\t%d\t%d\t%d\t%s\n", file, !existed, (flags & O_TRUNC) != 0, path);
  }
  UNLOCK();
  return file;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list arguments; \
    va_start(arguments, flags); \
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments); \
    return opened(REAL(name), path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define HALF(how, count) ((how) == END ? 0 : (how) == SHORT && (count) > 1 ? (count) / 2 : (count))

#define TRANSFER(name, call, pointer, extra, pass, offset, log) \
  ssize_t name(int file, pointer data, size_t count extra) { \
    if (!is_watched(file)) return REAL(name)(file, data, count pass); \
    LOCK(); \
    int how = failure(call); \
    if (how > 0) { UNLOCK(); errno = how; return -1; } \
    count = HALF(how, count); \
    ssize_t result = REAL(name)(file, data, count pass); \
    if (log && result >= 0) { record("write\t%d\t%ld\t", file, (long)(offset)); record_bytes(data, result); } \
    UNLOCK(); \
    return result; \
  }
#define NOTHING
#define AT , off_t at
#define AT64 , off64_t at
#define PASS , at
TRANSFER(read, "read", void *, NOTHING, NOTHING, 0, 0)
TRANSFER(pread, "read", void *, AT, PASS, 0, 0)
TRANSFER(pread64, "read", void *, AT64, PASS, 0, 0)
TRANSFER(write, "write", const void *, NOTHING, NOTHING, -1, 1)
TRANSFER(pwrite, "write", const void *, AT, PASS, at, 1)
TRANSFER(pwrite64, "write", const void *, AT64, PASS, at, 1)

#define ON_FILE(name, call, extra, pass, ...) \
  int name(int file extra) { \
    if (!is_watched(file)) return REAL(name)(file pass); \
    LOCK(); \
    FAIL(call); \
    int result = REAL(name)(file pass); \
    if (result == 0) record(__VA_ARGS__); \
    UNLOCK(); \
    return result; \
  }
ON_FILE(fsync, "fsync", NOTHING, NOTHING, "fsync\t%d\n", file)
ON_FILE(fdatasync, "fsync", NOTHING, NOTHING, "fsync\t%d\n", file)
ON_FILE(ftruncate, "write", AT, PASS, "truncate\t%d\t%ld\n", file, (long)at)
ON_FILE(ftruncate64, "write", AT64, PASS, "truncate\t%d\t%ld\n", file, (long)at)

#define ON_PATH(name, extra, pass, ...) \
  int name(const char *path extra) { \
    if (!is_below(path)) return REAL(name)(path pass); \
    LOCK(); \
    FAIL(#name); \
    int result = REAL(name)(path pass); \
    if (result == 0) record(__VA_ARGS__); \
    UNLOCK(); \
    return result; \
  }
#define MODE , mode_t mode
#define PASS_MODE , mode
#define OTHER , const char *other
#define PASS_OTHER , other
ON_PATH(unlink, NOTHING, NOTHING, "unlink\t%s\n", path)
ON_PATH(rmdir, NOTHING, NOTHING, "rmdir\t%s\n", path)
ON_PATH(mkdir, MODE, PASS_MODE, "mkdir\t%s\n", path)
ON_PATH(rename, OTHER, PASS_OTHER, "rename\t%s\t%s\n", path, other)
ON_PATH(link, OTHER, PASS_OTHER, "link\t%s\t%s\n", path, other)

#define SCAN(name, entry) \
  int name(const char *path, struct entry ***list, int (*filter)(const struct entry *), \
           int (*compare)(const struct entry **, const struct entry **)) { \
    if (!is_below(path)) return REAL(name)(path, list, filter, compare); \
    LOCK(); \
    FAIL("list"); \
    int result = REAL(name)(path, list, filter, compare); \
    UNLOCK(); \
    return result; \
  }
SCAN(scandir, dirent)
SCAN(scandir64, dirent64)
