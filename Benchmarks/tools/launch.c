/* Runs one command and says what it cost, as one line of JSON.
 *
 *   launch FILE SECONDS SAMPLE_MS COMMAND ARGUMENT…
 *
 * Standard input, output and error are the command's. It is killed after SECONDS. Time of processors is that of the whole tree, orphans
 * included (this process adopts and reaps them). Memory is looked at every SAMPLE_MS over the command's process group: the largest sum of
 * resident sizes; shared pages count once a process. SIGTERM, which is also sent when the process that started this one is gone, kills the group.
 *
 * A program of its own, and a small one, because a process inherits the peak of resident memory of the one it was forked from.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Resident pages of a process of the group, or 0. */
static long pages_of(const char *pid, pid_t group) {
  char path[300], line[1024];
  int its_group = 0;
  long pages = 0;
  snprintf(path, sizeof path, "/proc/%s/stat", pid);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL; /* the name in parentheses may hold anything */
  fclose(file);
  if (!rest || sscanf(rest + 1, " %*c %*d %d" "%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s" " %ld", &its_group, &pages) != 2) return 0;
  return its_group == group ? pages : 0;
}

static long resident_kilobytes(pid_t group) {
  long pages = 0;
  DIR *all = opendir("/proc");
  if (!all) return 0;
  for (struct dirent *entry; (entry = readdir(all));)
    if (isdigit((unsigned char)*entry->d_name) && atoi(entry->d_name) >= group) pages += pages_of(entry->d_name, group);
  closedir(all);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

int main(int argc, char **argv) {
  if (argc < 5) { fputs("launch FILE SECONDS SAMPLE_MS COMMAND ARGUMENT…\n", stderr); return 64; }
  const double time_limit = atof(argv[2]);
  const long step = atol(argv[3]);
  FILE *out = fopen(argv[1], "we");
  if (!out) { perror(argv[1]); return 73; }

  sigset_t waited, before;
  sigemptyset(&waited);
  sigaddset(&waited, SIGCHLD);
  sigaddset(&waited, SIGTERM);
  sigprocmask(SIG_BLOCK, &waited, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);

  const double begin = seconds();
  const pid_t this = getpid(), command = fork();
  if (command < 0) { perror("fork"); return 71; }
  if (command == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != this) _exit(127);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execvp(argv[4], argv + 4);
    perror(argv[4]);
    _exit(127);
  }
  setpgid(command, command);

  int status = 0, ended = 0, killed = 0, asked = 0;
  long largest = 0;
  struct rusage own = {0};
  while (!ended) {
    struct timespec pause = {step / 1000, step % 1000 * 1000000};
    if (sigtimedwait(&waited, NULL, &pause) == SIGTERM) { asked = 1; kill(-command, SIGKILL); }
    struct rusage usage;
    int how;
    for (pid_t pid; (pid = wait4(-1, &how, WNOHANG, &usage)) > 0;)
      if (pid == command) { ended = 1; status = how; own = usage; }
    if (ended) break;
    if (!killed && seconds() - begin > time_limit) { killed = 1; kill(-command, SIGKILL); }
    const long now = resident_kilobytes(command);
    if (now > largest) largest = now;
  }
  const double wall = seconds() - begin;
  kill(-command, SIGKILL);
  while (wait4(-1, NULL, 0, NULL) > 0 || errno == EINTR) {}

  struct rusage all;
  getrusage(RUSAGE_CHILDREN, &all);
  fprintf(out, "{\"wall\": %.6f, \"user\": %ld.%06ld, \"system\": %ld.%06ld, \"peak_kb\": %ld, \"tree_kb\": %ld, \"status\": %d, \"killed\": %s}\n", wall,
    (long)all.ru_utime.tv_sec, (long)all.ru_utime.tv_usec, (long)all.ru_stime.tv_sec, (long)all.ru_stime.tv_usec, own.ru_maxrss,
    largest > own.ru_maxrss ? largest : own.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), killed ? "true" : "false");
  return fclose(out) ? 74 : asked ? 128 + SIGTERM : 0;
}
