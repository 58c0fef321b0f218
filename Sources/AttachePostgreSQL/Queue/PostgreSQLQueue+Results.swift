internal import Attache
package import AttacheQueue

extension PostgreSQLQueue {
  package func results(_ request: ResultRequest) throws(QueueError) -> ResultPage {
    let statement = request.stopsAtUndecided ? Self.pageInOrder : request.onlyUnread ? Self.pageUnread : Self.page
    let limit = min(max(0, request.limit), ClaimStatements.limit)
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
    try pool.call { attempt throws(SessionError) in
      let parameter = Parameter.integers(ids)
      _ = try attempt.run(
        [Execution(Self.lockResults, parameter), Execution(Self.read, parameter)], isSynchronous: isSynchronous(isOfLease: false))
    }
    return []
  }

  private static let read = Statement(
    "mark_read",
    """
    WITH over AS (
        UPDATE result SET state = NULL, until = NULL, moment = NULL, worker = NULL, fence = NULL, alone = NULL
        WHERE id = ANY ($1::bigint[]) AND state IS NOT NULL RETURNING id, dead),
      counted AS (\(Tally.add("0", .claims, [
          "unread": "-count(*)", "done": "-count(*) FILTER (WHERE NOT dead)", "delivered": "count(*) FILTER (WHERE NOT dead)",
        ], from: "over")))
    SELECT count(*) FROM over
    """)
}
