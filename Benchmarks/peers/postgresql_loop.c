/* What PostgreSQL can do on this machine with one connection, with as little as possible in between: the measure of a queue.
 *
 *   postgresql_loop enqueue URI < payloads      adds the lines to a table: 4,096 lines or 4 MB with each insert
 *   postgresql_loop work URI                    moves the lines to a table of results: with each select, insert and delete, 256
 *
 * A batch is one transaction, whose commit is on the disk before the next batch. Statements are prepared, values are binary, and the statements of a batch
 * go to the server together. There are no keys, priorities, leases or counts. The tables are in the schema `loop`.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { enqueued_together = 4096, enqueued_bytes = 4 << 20 };
/* PostgreSQL's numbers of types (pg_type.dat) */
enum { type_bytea = 17, type_int8 = 20 };

static const char schema[] =
  "CREATE SCHEMA IF NOT EXISTS loop;"
  "CREATE TABLE IF NOT EXISTS loop.payload (id bigint PRIMARY KEY, enqueued_at timestamptz NOT NULL, line bytea NOT NULL);"
  "ALTER TABLE loop.payload ALTER COLUMN line SET STORAGE EXTERNAL;"
  "CREATE TABLE IF NOT EXISTS loop.result (id bigint PRIMARY KEY, outcome text NOT NULL, finished_at timestamptz NOT NULL, record bytea NOT NULL,"
  "  line bytea NOT NULL);"
  "ALTER TABLE loop.result ALTER COLUMN line SET STORAGE EXTERNAL;";

static PGconn *connection;

static void fail(void) {
  fprintf(stderr, "postgresql_loop: %s\n", PQerrorMessage(connection));
  exit(74);
}

/* Reads the answer to one statement. */
static PGresult *answer(ExecStatusType expected) {
  PGresult *result = PQgetResult(connection);
  if (PQresultStatus(result) != expected) fail();
  return result;
}

/* Reads what ends the answer to one statement. */
static void end_answer(PGresult *result) {
  PQclear(result);
  if (PQgetResult(connection)) fail();
}

static void commit(void) {
  if (!PQpipelineSync(connection)) fail();
}

static void end_commit(void) { PQclear(answer(PGRES_PIPELINE_SYNC)); }

static void prepare(const char *name, const char *sql) {
  if (!PQsendPrepare(connection, name, sql, 0, NULL)) fail();
  commit();
  end_answer(answer(PGRES_COMMAND_OK));
  end_commit();
}

struct value { const char *bytes; size_t length; };

static void execute(const char *name, int count, const struct value *values) {
  const char *bytes[4];
  int lengths[4], formats[4];
  for (int index = 0; index < count; index++) {
    bytes[index] = values[index].bytes;
    lengths[index] = (int)values[index].length;
    formats[index] = 1;
  }
  if (!PQsendQueryPrepared(connection, name, count, bytes, lengths, formats, 1)) fail();
}

/* An array in PostgreSQL's binary format (array_recv). */
struct array { char *bytes; size_t length, room; uint32_t count; };

static void append(struct array *array, const void *bytes, size_t length) {
  if (array->length + length > array->room) {
    array->room = 2 * (array->length + length);
    array->bytes = realloc(array->bytes, array->room);
    if (!array->bytes) { perror("realloc"); exit(70); }
  }
  memcpy(array->bytes + array->length, bytes, length);
  array->length += length;
}

static void begin(struct array *array, uint32_t type) {
  const uint32_t head[5] = {htonl(1), 0, htonl(type), 0, htonl(1)}; /* dimensions, nulls, type, length, first index */
  array->length = array->count = 0;
  append(array, head, sizeof head);
}

static void add(struct array *array, const void *bytes, size_t length) {
  const uint32_t size = htonl((uint32_t)length);
  append(array, &size, sizeof size);
  append(array, bytes, length);
  array->count++;
}

static struct value value(struct array *array) {
  const uint32_t count = htonl(array->count);
  memcpy(array->bytes + 12, &count, sizeof count);
  return (struct value){array->bytes, array->length};
}

/* Sends a batch, and waits until it is on the disk. */
static void insert(struct array *lines, int64_t before) {
  const uint64_t number = htobe64((uint64_t)before);
  execute("enqueue", 2, (struct value[]){value(lines), {(const char *)&number, sizeof number}});
  commit();
  end_answer(answer(PGRES_COMMAND_OK));
  end_commit();
}

static void enqueue(void) {
  prepare("enqueue", "INSERT INTO loop.payload SELECT $2::bigint + place, now(), line FROM unnest($1::bytea[]) WITH ORDINALITY AS given (line, place)");
  struct array lines = {0};
  char *line = NULL;
  size_t room = 0, bytes = 0;
  ssize_t length;
  int64_t before = 0;
  begin(&lines, type_bytea);
  while ((length = getline(&line, &room, stdin)) > 0) {
    add(&lines, line, (size_t)length);
    bytes += (size_t)length;
    if (lines.count < enqueued_together && bytes < enqueued_bytes) continue;
    insert(&lines, before);
    before += lines.count;
    bytes = 0;
    begin(&lines, type_bytea);
  }
  if (lines.count) insert(&lines, before);
}

static void ask_for_lines(int64_t after) {
  const uint64_t number = htobe64((uint64_t)after);
  execute("select", 1, (struct value[]){{(const char *)&number, sizeof number}});
  commit();
}

static PGresult *take_lines(void) {
  PGresult *lines = answer(PGRES_TUPLES_OK);
  if (PQgetResult(connection)) fail();
  end_commit();
  return lines;
}

static int64_t number_of(const PGresult *lines, int row) {
  uint64_t number;
  memcpy(&number, PQgetvalue(lines, row, 0), sizeof number);
  return (int64_t)be64toh(number);
}

static void work(void) {
  prepare("select", "SELECT id, line FROM loop.payload WHERE id > $1::bigint ORDER BY id LIMIT 256");
  prepare("insert", "INSERT INTO loop.result SELECT id, 'passthrough', now(), record, line FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])"
                    " AS given (id, record, line)");
  prepare("delete", "DELETE FROM loop.payload WHERE id = ANY ($1::bigint[])");
  struct array ids = {0}, records = {0}, texts = {0};
  ask_for_lines(0);
  PGresult *lines = take_lines();
  for (int count; (count = PQntuples(lines)) > 0;) {
    begin(&ids, type_int8);
    begin(&records, type_bytea);
    begin(&texts, type_bytea);
    for (int row = 0; row < count; row++) {
      char record[512];
      const int length = snprintf(record, sizeof record,
        "{\"line\":%lld,\"outcome\":\"passthrough\",\"elapsed_ms\":0.123,\"lateness_ms\":-29999.123,\"media\":[]}\n", (long long)number_of(lines, row));
      add(&ids, PQgetvalue(lines, row, 0), 8);
      add(&records, record, (size_t)length);
      add(&texts, PQgetvalue(lines, row, 1), (size_t)PQgetlength(lines, row, 1));
    }
    execute("insert", 3, (struct value[]){value(&ids), value(&records), value(&texts)});
    execute("delete", 1, (struct value[]){value(&ids)});
    commit();
    ask_for_lines(number_of(lines, count - 1));
    PQclear(lines);
    end_answer(answer(PGRES_COMMAND_OK));
    end_answer(answer(PGRES_COMMAND_OK));
    end_commit();
    lines = take_lines();
  }
  PQclear(lines);
}

int main(int argc, char **argv) {
  const int is_work = argc == 3 && !strcmp(argv[1], "work");
  if (argc != 3 || (!is_work && strcmp(argv[1], "enqueue"))) {
    fputs("postgresql_loop enqueue URI | work URI\n", stderr);
    return 64;
  }
  connection = PQconnectdb(argv[2]);
  if (PQstatus(connection) != CONNECTION_OK) fail();
  PGresult *created = PQexec(connection, "SET client_min_messages = error; SET synchronous_commit = on");
  if (PQresultStatus(created) != PGRES_COMMAND_OK) fail();
  PQclear(created);
  created = PQexec(connection, schema);
  if (PQresultStatus(created) != PGRES_COMMAND_OK) fail();
  PQclear(created);
  if (!PQenterPipelineMode(connection)) fail();
  if (is_work) work(); else enqueue();
  PQfinish(connection);
  return 0;
}
