internal import Attache
package import AttacheQueue

extension PostgreSQLQueue {
  package func results(_ request: ResultRequest) throws(QueueError) -> ResultPage {
    let statement = request.stopsAtUndecided ? Self.pageInOrder : request.onlyUnread ? Self.pageUnread : Self.page
    let limit = min(max(0, request.limit), Claiming.limit)
    let parameters: [Parameter] =
      [.integer(request.after), .integer(Int64(limit)), .integer(Int64(request.maximumBytes))]
      + (request.stopsAtUndecided ? [.boolean(request.onlyUnread)] : [])
    return try pool.call { attempt throws(SessionError) in
      let rows = try attempt.run([Execution(statement, parameters)])[0]
      return Self.page(rows, request, limit)
    }
  }

  /// Builds a page. The query returns one row more than fits, without its bytes.
  private static func page(_ rows: Rows, _ request: ResultRequest, _ limit: Int) -> ResultPage {
    var page = ResultPage(entries: [], last: request.after, isAtEnd: true)
    for row in 0..<rows.count {
      let id = rows.integer(row, 0)
      switch rows.integer(row, 1) {
      case 0: return page
      case 2: page.last = id
      case 3:
        page.isAtEnd = false
        return page
      default:
        page.entries.append(
          ResultPage.Entry(
            id: id, line: rows.bytes(row, 2), record: rows.bytes(row, 3), outcome: Outcome(rawValue: rows.text(row, 4)) ?? .fallback,
            reason: rows.textIfAny(row, 5).flatMap(Reason.init(rawValue:))))
        page.last = id
      }
    }
    // Behind the rows that the query looked at, others may follow.
    page.isAtEnd = !request.stopsAtUndecided || rows.count < limit + Self.lookAhead
    return page
  }

  /// Returns a query of rows of number, kind, line, record, outcome and reason. The kinds: 0
  /// undecided, 1 wanted, 2 read, 3 wanted but behind the page.
  ///
  /// - Parameter rows: a query of number, kind, length, outcome and reason, in the order of the
  ///   numbers.
  private static func paging(_ name: StaticString, _ rows: String) -> Statement {
    Statement(
      name,
      """
      WITH sized AS MATERIALIZED (\(rows)),
        summed AS MATERIALIZED (
          SELECT *, sum(CASE WHEN kind = 1 THEN size ELSE 0 END) OVER (ORDER BY id) AS total,
            count(*) FILTER (WHERE kind = 1) OVER (ORDER BY id) AS number FROM sized),
        cut AS MATERIALIZED (
          SELECT id, outcome, reason,
            CASE WHEN kind <> 1 THEN kind WHEN number <= $2::bigint AND (total <= $3::bigint OR number = 1) THEN 1 ELSE 3 END AS kind FROM summed)
      SELECT c.id, c.kind, CASE WHEN c.kind = 1 THEN coalesce(o.line, p.line) END, CASE WHEN c.kind = 1 THEN o.record END, c.outcome, c.reason
      FROM cut c JOIN payload p ON p.id = c.id LEFT JOIN output o ON o.id = c.id ORDER BY c.id
      """)
  }

  /// How many rows a page looks at beyond its limit, to pass over those that were read.
  private static let lookAhead = 1_000

  private static let columns = "r.bytes + octet_length(o.record) AS size, r.outcome, r.reason"
  private static let page = paging(
    "page",
    """
    SELECT r.id, 1 AS kind, \(columns) FROM result r JOIN output o ON o.id = r.id
    WHERE r.id > $1::bigint ORDER BY r.id LIMIT $2::bigint + 1
    """)
  private static let pageUnread = paging(
    "page_unread",
    """
    SELECT r.id, 1 AS kind, \(columns) FROM result r JOIN output o ON o.id = r.id
    WHERE r.id > $1::bigint AND r.state IS NOT NULL ORDER BY r.id LIMIT $2::bigint + 1
    """)
  private static let pageInOrder = paging(
    "page_in_order",
    """
    SELECT p.id, CASE WHEN r.id IS NULL THEN 0 WHEN $4::boolean AND r.state IS NULL THEN 2 ELSE 1 END AS kind, \(columns)
    FROM (SELECT id FROM payload WHERE id > $1::bigint ORDER BY id LIMIT $2::bigint + \(lookAhead)) AS p
      LEFT JOIN result r ON r.id = p.id LEFT JOIN output o ON o.id = p.id ORDER BY p.id
    """)

  package func markRead(_ ids: [Int64]) throws(QueueError) -> [String] {
    guard !ids.isEmpty else { return [] }
    return try pool.call { attempt throws(SessionError) in
      let parameter = Parameter.integers(ids)
      return try attempt.run(
        [
          Execution(Self.lockHolds), Execution(Self.lockResults, parameter), Execution(Self.read, parameter),
          Execution(Self.takeOrphans, .text(machineName)),
        ], isSynchronous: isSynchronous(isOfLease: false))[3].texts
    }
  }

  private static let read = Statement(
    "mark_read",
    """
    WITH over AS (
        UPDATE result SET state = NULL, until = NULL, moment = NULL, worker = NULL, fence = NULL, alone = NULL
        WHERE id = ANY ($1::bigint[]) AND state IS NOT NULL RETURNING id),
      counted AS (\(Tally.add("0", .claims, ["unread": "-count(*)"], from: "over"))),
      \(PostgreSQLQueue.releasingHolds(of: "over"))
    SELECT count(*) FROM over
    """)

  // MARK: Holds

  /// Returns two queries of a `WITH` list: `unheld` deletes the holds of the rows of `source`, and
  /// `orphaned` keeps each for its machine, with the id 0.
  static func releasingHolds(of source: String) -> String {
    """
    unheld AS (DELETE FROM hold WHERE id = ANY (ARRAY(SELECT id FROM \(source) AS released)) RETURNING machine, path),
    orphaned AS (INSERT INTO hold (id, machine, path) SELECT DISTINCT 0, machine, path FROM unheld ON CONFLICT DO NOTHING)
    """
  }

  /// Lets one call at a time release holds. Otherwise two calls that release the last two holds of a
  /// file would each see the other's hold, and neither would return the file.
  static let lockHolds = Statement(
    "lock_holds", "SELECT 1 FROM turn WHERE EXISTS (SELECT 1 FROM hold) FOR UPDATE")

  /// Deletes this machine's detached holds, and returns those that no result uses.
  static let takeOrphans = Statement(
    "take_orphans",
    """
    WITH orphans AS (DELETE FROM hold WHERE id = 0 AND machine = $1::text RETURNING path)
    SELECT path FROM orphans
    WHERE (SELECT count(*) FROM (SELECT 1 FROM hold AS other WHERE other.path = orphans.path AND other.machine = $1::text AND other.id > 0 LIMIT 1) AS held) = 0
    """)

  package func anyHold() throws(QueueError) -> String? {
    try pool.call { attempt throws(SessionError) in try attempt.run([Execution(Self.anyHold, .text(machineName))])[0].texts.first }
  }

  private static let anyHold = Statement("any_hold", "SELECT path FROM hold WHERE machine = $1::text LIMIT 1")

  package func unlistedHolds(_ paths: [String]) throws(QueueError) -> [String] {
    guard !paths.isEmpty else { return [] }
    return try pool.call { attempt throws(SessionError) in
      try attempt.run([Execution(Self.unlistedHolds, .texts(paths), .text(machineName))])[0].texts
    }
  }

  private static let unlistedHolds = Statement(
    "unlisted_holds",
    """
    SELECT given.path FROM unnest($1::text[]) AS given (path)
    WHERE (SELECT count(*) FROM (SELECT 1 FROM hold WHERE machine = $2::text AND hold.path = given.path AND id > 0 LIMIT 1) AS held) = 0
    """)
}

extension Rows {
  /// The texts in the first column.
  var texts: [String] { (0..<count).map { text($0, 0) } }
}
