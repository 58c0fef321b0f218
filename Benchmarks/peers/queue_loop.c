/* What SQLite can do on this machine in one thread, with as little as possible in between: the measure of a queue.
 *
 *   queue_loop enqueue DATABASE < payloads      adds each line, 4,096 to a transaction
 *   queue_loop work DATABASE [MEMBER]           gives each a result: 256 are leased in a transaction, and get their results in another; with MEMBER the
 *                                               result is the line with these bytes before its last brace, and names one file
 *   queue_loop deliver DATABASE PROGRAM…        starts the program, writes each result to it, 64 unanswered at most, and notes its ok: 256 are leased in the
 *                                               transaction that notes the last 256
 *
 * Tables, log, page cache and synchronous are as attache's queue has them with `--sync group`: the log goes to the disk once a second, and at the end.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { enqueued_together = 4096, worked_together = 256, unanswered_most = 64 };

static const char schema[] =
  "CREATE TABLE IF NOT EXISTS payload (id INTEGER PRIMARY KEY, priority INTEGER NOT NULL, enqueued_at INTEGER NOT NULL, line BLOB NOT NULL);"
  "CREATE TABLE IF NOT EXISTS work (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL, attempts INTEGER NOT NULL, until INTEGER,"
  "  worker INTEGER, fence INTEGER);"
  "CREATE INDEX IF NOT EXISTS work_ready ON work (rank, id) WHERE state = 0;"
  "CREATE INDEX IF NOT EXISTS work_leased ON work (worker, until) WHERE state = 3;"
  "CREATE TABLE IF NOT EXISTS result (id INTEGER PRIMARY KEY, outcome TEXT NOT NULL, finished_at INTEGER NOT NULL, read INTEGER NOT NULL,"
  "  status TEXT, delivered_at INTEGER);"
  "CREATE TABLE IF NOT EXISTS delivery (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, rank INTEGER NOT NULL, decided INTEGER NOT NULL,"
  "  attempts INTEGER NOT NULL, until INTEGER, worker INTEGER, fence INTEGER);"
  "CREATE INDEX IF NOT EXISTS delivery_ready ON delivery (rank, decided) WHERE state = 0;"
  "CREATE INDEX IF NOT EXISTS delivery_leased ON delivery (worker, until) WHERE state = 3;"
  "CREATE TABLE IF NOT EXISTS output (id INTEGER PRIMARY KEY, record BLOB NOT NULL, line BLOB);"
  "CREATE TABLE IF NOT EXISTS hold (id INTEGER NOT NULL, path TEXT NOT NULL, PRIMARY KEY (id, path)) WITHOUT ROWID;"
  "CREATE INDEX IF NOT EXISTS hold_path ON hold (path);";

static sqlite3 *database;
static int log_file = -1;

static void check(int code) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  fprintf(stderr, "queue_loop: %s\n", sqlite3_errmsg(database));
  exit(74);
}

static void execute(const char *sql) { check(sqlite3_exec(database, sql, NULL, NULL, NULL)); }

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
  return statement;
}

static void run(sqlite3_stmt *statement) {
  check(sqlite3_step(statement));
  check(sqlite3_reset(statement));
}

static long long microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* Has what was written be on the disk, at most once a second. */
static void sync_log(const char *path, int at_once) {
  static long long last;
  if (!at_once && microseconds() - last < 1000000) return;
  last = microseconds();
  if (log_file < 0) {
    char name[4096];
    snprintf(name, sizeof name, "%s-wal", path);
    log_file = open(name, O_RDONLY | O_CLOEXEC);
  }
  if (log_file < 0 || fdatasync(log_file)) { perror(path); exit(74); }
}

static void enqueue(const char *path) {
  sqlite3_stmt *payload = prepared("INSERT INTO payload (id, priority, enqueued_at, line) VALUES (?, 10, ?, ?)");
  sqlite3_stmt *work = prepared("INSERT INTO work (id, state, rank, attempts) VALUES (?, 0, -10, 0)");
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  long long id = 0;
  while ((length = getline(&line, &room, stdin)) > 0) {
    if (id % enqueued_together == 0) execute(id ? "COMMIT; BEGIN IMMEDIATE" : "BEGIN IMMEDIATE");
    sqlite3_bind_int64(payload, 1, ++id);
    sqlite3_bind_int64(payload, 2, microseconds());
    sqlite3_bind_blob64(payload, 3, line, (sqlite3_uint64)length, SQLITE_STATIC);
    run(payload);
    sqlite3_bind_int64(work, 1, id);
    run(work);
    if (id % enqueued_together == 0) sync_log(path, 0);
  }
  if (id) execute("COMMIT");
  sync_log(path, 1);
}

struct leased { long long id; char *line; int length; };

/* Reads what is ready, and leases it for so many microseconds, within a transaction. */
static int leased(struct leased *leases, sqlite3_stmt *select, sqlite3_stmt *update, long long fence, long long span) {
  int count = 0, code;
  sqlite3_bind_int(select, 1, worked_together);
  while ((code = sqlite3_step(select)) == SQLITE_ROW) {
    const int length = sqlite3_column_bytes(select, 1);
    leases[count] = (struct leased){sqlite3_column_int64(select, 0), malloc((size_t)length), length};
    memcpy(leases[count++].line, sqlite3_column_blob(select, 1), (size_t)length);
  }
  check(code);
  check(sqlite3_reset(select));
  for (int index = 0; index < count; index++) {
    sqlite3_bind_int64(update, 1, leases[index].id);
    sqlite3_bind_int64(update, 2, microseconds() + span);
    sqlite3_bind_int64(update, 3, fence);
    run(update);
  }
  return count;
}

static int lease(struct leased *leases) {
  static sqlite3_stmt *select, *update;
  if (!select) select = prepared("SELECT work.id, line FROM work INDEXED BY work_ready CROSS JOIN payload ON payload.id = work.id WHERE state = 0 "
                                 "ORDER BY rank, work.id LIMIT ?");
  if (!update) update = prepared("UPDATE work SET state = 3, until = ?2, worker = 1, fence = ?3 WHERE id = ?1");
  static long long fence;
  execute("BEGIN IMMEDIATE");
  const int count = leased(leases, select, update, ++fence, 65000000);
  execute("COMMIT");
  return count;
}

static void finish(struct leased *leases, int count, const char *member) {
  static sqlite3_stmt *delete, *result, *output, *hold, *delivery;
  if (!delete) {
    delete = prepared("DELETE FROM work WHERE id = ? AND worker = 1");
    result = prepared("INSERT INTO result (id, outcome, finished_at, read) VALUES (?, ?, ?, 0)");
    delivery = prepared("INSERT INTO delivery (id, state, rank, decided, attempts) VALUES (?, 0, -10, ?, 0)");
    output = prepared("INSERT INTO output (id, record, line) VALUES (?, ?, ?)");
    hold = prepared("INSERT OR IGNORE INTO hold (id, path) VALUES (?, '/var/cache/attache/.held/queue/0123456789abcdef.jpg')");
  }
  execute("BEGIN IMMEDIATE");
  for (int index = 0; index < count; index++) {
    struct leased *lease = &leases[index];
    char record[512];
    const int length = snprintf(record, sizeof record, "{\"line\":%lld,\"outcome\":\"%s\",\"elapsed_ms\":0.123,\"lateness_ms\":-29999.123,\"media\":[]}\n", lease->id,
                                member ? "attached" : "passthrough");
    sqlite3_bind_int64(delete, 1, lease->id);
    run(delete);
    sqlite3_bind_int64(result, 1, lease->id);
    sqlite3_bind_text(result, 2, member ? "attached" : "passthrough", -1, SQLITE_STATIC);
    const long long now = microseconds();
    sqlite3_bind_int64(result, 3, now);
    run(result);
    sqlite3_bind_int64(delivery, 1, lease->id);
    sqlite3_bind_int64(delivery, 2, now);
    run(delivery);
    sqlite3_bind_int64(output, 1, lease->id);
    sqlite3_bind_blob(output, 2, record, length, SQLITE_STATIC);
    char *line = NULL;
    if (member) {
      const size_t before = (size_t)lease->length - 2, added = strlen(member); /* before the brace and the line feed */
      line = malloc((size_t)lease->length + added);
      memcpy(line, lease->line, before);
      memcpy(line + before, member, added);
      memcpy(line + before + added, "}\n", 2);
      sqlite3_bind_blob64(output, 3, line, (sqlite3_uint64)lease->length + added, SQLITE_STATIC);
    } else {
      sqlite3_bind_null(output, 3);
    }
    run(output);
    if (member) {
      sqlite3_bind_int64(hold, 1, lease->id);
      run(hold);
    }
    free(line);
    free(lease->line);
  }
  execute("COMMIT");
}

static void work(const char *path, const char *member) {
  struct leased leases[worked_together];
  for (int count; (count = lease(leases)) > 0;) {
    finish(leases, count, member);
    sync_log(path, 0);
  }
  sync_log(path, 1);
}

/* Notes those that were answered, and leases the next, in one transaction. */
static int exchange(struct leased *leases, int answered) {
  static sqlite3_stmt *delete, *result, *select, *update;
  static long long fence;
  if (!delete) {
    delete = prepared("DELETE FROM delivery WHERE id = ? AND fence = ?");
    result = prepared("UPDATE result SET read = 1, status = 'delivered', delivered_at = ?2 WHERE id = ?1");
    select = prepared("SELECT delivery.id, coalesce(output.line, payload.line) FROM delivery INDEXED BY delivery_ready "
                      "CROSS JOIN payload ON payload.id = delivery.id CROSS JOIN output ON output.id = delivery.id "
                      "CROSS JOIN result ON result.id = delivery.id WHERE state = 0 ORDER BY rank, decided, delivery.id LIMIT ?");
    update = prepared("UPDATE delivery SET state = 3, until = ?2, worker = 1, fence = ?3 WHERE id = ?1");
  }
  execute("BEGIN IMMEDIATE");
  for (int index = 0; index < answered; index++) {
    sqlite3_bind_int64(delete, 1, leases[index].id);
    sqlite3_bind_int64(delete, 2, fence);
    run(delete);
    sqlite3_bind_int64(result, 1, leases[index].id);
    sqlite3_bind_int64(result, 2, microseconds());
    run(result);
    free(leases[index].line);
  }
  const int count = leased(leases, select, update, ++fence, 125000000);
  execute("COMMIT");
  return count;
}

/* Has the program answer each line. What is unanswered fits into a pipe as answers, so that neither side waits for the other. */
static void converse(const struct leased *leases, int count, int to, int from) {
  char answers[4096];
  for (int sent = 0, answered = 0; answered < count;) {
    for (; sent < count && sent - answered < unanswered_most; sent++) {
      if (write(to, leases[sent].line, (size_t)leases[sent].length) != leases[sent].length) { perror("write"); exit(74); }
    }
    const ssize_t length = read(from, answers, sizeof answers);
    if (length <= 0) { fputs("queue_loop: the program has ended\n", stderr); exit(70); }
    for (ssize_t index = 0; index < length; index++) answered += answers[index] == '\n';
  }
}

static void deliver(const char *path, char **program) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) || pipe2(output, O_CLOEXEC)) { perror("pipe"); exit(70); }
  const pid_t child = fork();
  if (child == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execv(program[0], program);
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  struct leased leases[worked_together];
  for (int count = 0; (count = exchange(leases, count)) > 0;) {
    converse(leases, count, input[1], output[0]);
    sync_log(path, 0);
  }
  sync_log(path, 1);
  close(input[1]);
  waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
  const int is_work = argc >= 3 && !strcmp(argv[1], "work"), is_deliver = argc >= 4 && !strcmp(argv[1], "deliver");
  if (argc < 3 || (!is_deliver && argc > (is_work ? 4 : 3)) || (!is_work && !is_deliver && strcmp(argv[1], "enqueue"))) {
    fputs("queue_loop enqueue DATABASE | work DATABASE [MEMBER] | deliver DATABASE PROGRAM…\n", stderr);
    return 64;
  }
  check(sqlite3_open(argv[2], &database));
  execute("PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000; PRAGMA cache_size = -8192");
  execute(schema);
  if (is_deliver) deliver(argv[2], argv + 3);
  else if (is_work) work(argv[2], argc > 3 ? argv[3] : NULL);
  else enqueue(argv[2]);
  check(sqlite3_close_v2(database));
  return 0;
}
