/* A FUSE file system that shows a real directory and behaves as the files in another directory say:
   path-inodes      the inode of a file is a hash of its path
   jitter-mtime     the modification time is 40 us later for each second 130 ms
   jitter-inode     the inode is another one for each second 130 ms
   mtime            its content is the modification time of each file, in seconds
   hang-list        calls about the directory "hung" and what is in it do not return while this file exists
   hang-read        reads of files named "hung.xml" do not return while this file exists
   busy             opening a file named "busy.xml" fails with the number that this file contains */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char base[4096], rules[4096];

static int is_set(const char *rule) {
  char path[8192];
  snprintf(path, sizeof path, "%s/%s", rules, rule);
  return access(path, F_OK) == 0;
}

static long long number_of(const char *rule) {
  char path[8192], text[64] = "";
  snprintf(path, sizeof path, "%s/%s", rules, rule);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  fgets(text, sizeof text, file);
  fclose(file);
  return atoll(text);
}

static void real(char *to, const char *path) { snprintf(to, 8192, "%s%s", base, path); }

static void wait_while(const char *rule) {
  while (is_set(rule)) usleep(20000);
}

static void maybe_hang(const char *path) {
  if (strncmp(path, "/hung", 5) == 0 && (path[5] == 0 || path[5] == '/')) wait_while("hang-list");
}

static void disturb(const char *path, struct stat *stats) {
  if (!S_ISREG(stats->st_mode)) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  unsigned odd = now.tv_nsec / 130000000 % 2;
  if (is_set("path-inodes")) {
    unsigned long hash = 5381;
    for (const char *at = path; *at; at++) hash = hash * 33 + (unsigned char)*at;
    stats->st_ino = hash;
  }
  if (is_set("jitter-mtime") && odd) stats->st_mtim.tv_nsec = (stats->st_mtim.tv_nsec + 40000) % 1000000000;
  if (is_set("jitter-inode") && odd) stats->st_ino += 1000000;
  if (is_set("mtime")) stats->st_mtim.tv_sec = number_of("mtime");
}

static int odd_getattr(const char *path, struct stat *stats, struct fuse_file_info *info) {
  char at[8192];
  real(at, path);
  maybe_hang(path);
  if (lstat(at, stats) < 0) return -errno;
  disturb(path, stats);
  return 0;
}

static int odd_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                       struct fuse_file_info *info, enum fuse_readdir_flags flags) {
  char at[8192];
  real(at, path);
  maybe_hang(path);
  DIR *directory = opendir(at);
  if (!directory) return -errno;
  for (struct dirent *entry; (entry = readdir(directory));) {
    struct stat stats = {.st_ino = entry->d_ino, .st_mode = entry->d_type << 12};
    if (fill(buffer, entry->d_name, &stats, 0, 0)) break;
  }
  closedir(directory);
  return 0;
}

static int odd_open(const char *path, struct fuse_file_info *info) {
  char at[8192];
  real(at, path);
  if (strcmp(path, "/busy.xml") == 0 && is_set("busy")) return -(int)number_of("busy");
  int fd = open(at, info->flags & ~O_NOFOLLOW);
  if (fd < 0) return -errno;
  info->fh = fd;
  return 0;
}

static int odd_create(const char *path, mode_t mode, struct fuse_file_info *info) {
  char at[8192];
  real(at, path);
  int fd = open(at, info->flags | O_CREAT, mode);
  if (fd < 0) return -errno;
  info->fh = fd;
  return 0;
}

static int odd_read(const char *path, char *to, size_t size, off_t at, struct fuse_file_info *info) {
  const char *name = strrchr(path, '/');
  if (name && strcmp(name, "/hung.xml") == 0) wait_while("hang-read");
  ssize_t length = pread(info->fh, to, size, at);
  return length < 0 ? -errno : length;
}

static int odd_write(const char *path, const char *from, size_t size, off_t at, struct fuse_file_info *info) {
  ssize_t length = pwrite(info->fh, from, size, at);
  return length < 0 ? -errno : length;
}

static int odd_release(const char *path, struct fuse_file_info *info) { return close(info->fh), 0; }

#define ONE(name, call) \
  { char at[8192]; real(at, path); return (call) < 0 ? -errno : 0; }

static int odd_unlink(const char *path) ONE(unlink, unlink(at))
static int odd_mkdir(const char *path, mode_t mode) ONE(mkdir, mkdir(at, mode))
static int odd_truncate(const char *path, off_t size, struct fuse_file_info *info) ONE(truncate, truncate(at, size))
static int odd_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info)
  ONE(utimens, utimensat(AT_FDCWD, at, times, AT_SYMLINK_NOFOLLOW))
static int odd_chmod(const char *path, mode_t mode, struct fuse_file_info *info) ONE(chmod, chmod(at, mode))

static int odd_rename(const char *path, const char *to, unsigned flags) {
  char from_at[8192], to_at[8192];
  real(from_at, path);
  real(to_at, to);
  return rename(from_at, to_at) < 0 ? -errno : 0;
}

static void *odd_init(struct fuse_conn_info *connection, struct fuse_config *config) {
  config->use_ino = 1;
  config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
  config->direct_io = 1;
  return NULL;
}

static const struct fuse_operations operations = {
    .init = odd_init, .getattr = odd_getattr, .readdir = odd_readdir, .open = odd_open, .create = odd_create,
    .read = odd_read, .write = odd_write, .release = odd_release, .unlink = odd_unlink, .mkdir = odd_mkdir,
    .truncate = odd_truncate, .utimens = odd_utimens, .chmod = odd_chmod, .rename = odd_rename,
};

/* odd-mount BASE RULES MOUNTPOINT */
int main(int count, char **words) {
  if (count != 4) return 64;
  snprintf(base, sizeof base, "%s", words[1]);
  snprintf(rules, sizeof rules, "%s", words[2]);
  char *options[] = {words[0], "-f", "-o", "allow_other", words[3], NULL};
  return fuse_main(5, options, &operations, NULL);
}
