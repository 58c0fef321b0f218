internal import Attache

/// Finds the payloads of a queue that a filter selects, with the SQL that SQLite and PostgreSQL have in
/// common.
///
/// A search walks over one index in the order of numbers, and checks the other conditions for at most
/// ``reach`` payloads.
package struct PayloadSearch: Sendable {
  /// What a queue's SQL does differently from others.
  package struct Dialect: Sendable {
    /// Returns the form in which `payload.key` has a key.
    package var key: @Sendable ([UInt8]) -> [UInt8]
    /// The condition on a row of `result` that its delivery is not over.
    package var undelivered: String
    /// A query of the numbers of undelivered results. A condition follows.
    package var queryUndelivered: String
    /// The table with the columns `search_key` and `id`.
    package var searchKeys: String
    /// Returns a table with the index that SQLite must use.
    package var table: @Sendable (_ name: String, _ index: String) -> String
    /// Returns the parameter of a number from 1.
    package var parameter: @Sendable (_ number: Int, _ value: Value) -> String
    /// The SQL function of a text and a part that returns the part's position, or 0.
    package var position: String

    package init(
      key: @escaping @Sendable ([UInt8]) -> [UInt8], undelivered: String, queryUndelivered: String, position: String, searchKeys: String,
      table: @escaping @Sendable (String, String) -> String,
      parameter: @escaping @Sendable (Int, Value) -> String
    ) {
      self.key = key
      (self.undelivered, self.queryUndelivered, self.position) = (undelivered, queryUndelivered, position)
      self.searchKeys = searchKeys
      (self.table, self.parameter) = (table, parameter)
    }
  }

  /// A reading of the queue's clocks.
  package struct Now: Sendable {
    /// The wall clock, in microseconds since 1970.
    var wall: Int64
    /// Returns the conditions of which a waiting row of `work` that is due meets one, each with the index
    /// that finds such rows. The parameter precedes the names of columns.
    var due: @Sendable (_ prefix: String) -> [(condition: String, index: String)]

    package init(wall: Int64, due: @escaping @Sendable (_ prefix: String) -> [(condition: String, index: String)]) {
      (self.wall, self.due) = (wall, due)
    }

    fileprivate func isDue(_ prefix: String = "") -> String {
      "(\(due(prefix).map { "(\($0.condition))" }.joined(separator: " OR "))) IS TRUE"
    }
  }

  /// A parameter.
  package enum Value: Sendable {
    case text(String)
    case bytes([UInt8])
  }

  /// A query of two integers a row.
  package struct Query: Sendable {
    package var sql: String
    package var values: [Value] = []
  }

  /// The maximum number of payloads that a search with conditions beyond an index looks at: about 20 ms
  /// of an SQLite queue.
  package static let reach = 20_000
  /// The maximum number of priorities whose payloads are merged.
  private static let maximumRanks = 64
  /// The reasons of most payloads without media begin with this. They are not in the index of reasons.
  private static let unindexed = "payload."

  private let filter: PayloadFilter
  private let dialect: Dialect
  private let limit: Int
  private let now: Now?
  private var values: [Value] = []

  private init(_ filter: PayloadFilter, limit: Int, _ dialect: Dialect, _ now: Now?) {
    (self.filter, self.limit, self.dialect, self.now) = (filter, limit, dialect, now)
  }

  /// Finds the first payloads behind a number.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of payloads, at least 1.
  ///   - now: reads the queue's clocks.
  ///   - run: runs a query in one snapshot with the others.
  package static func find<Failure>(
    _ filter: PayloadFilter, after: Int64, limit: Int, _ dialect: Dialect, now: () throws(Failure) -> Now,
    run: (Query) throws(Failure) -> [(Int64, Int64)]
  ) throws(Failure) -> PayloadMatches {
    let needsNow = if case .purge = filter.scope { true } else { filter.state == .ready || filter.state == .waiting }
    var search = PayloadSearch(filter, limit: max(1, limit), dialect, needsNow ? try now() : nil)
    var after = after
    if let since = filter.since { after = try start(of: since.microseconds, after: after, run) }
    var ranks: [Int64] = []
    if filter.state == .ready { ranks = try run(Query(sql: Self.queryRanks)).map(\.0) }
    let (looked, isIndexed) = search.looked(after: after, ranks)
    let conditions = search.conditions(isIndexed: isIndexed)
    let reach = conditions.isEmpty ? search.limit : max(Self.reach, search.limit)
    let rows = try run(search.query(looked, conditions, reach: reach))
    guard let (last, count) = rows.last else { return PayloadMatches(last: after, isAtEnd: true) }
    let ids = rows.dropLast().map(\.0)
    let isFull = ids.count >= search.limit
    return PayloadMatches(ids: ids, last: isFull ? ids.last ?? last : max(last, after), isAtEnd: !isFull && count < Int64(reach))
  }

  /// Returns the number behind which the first payload of a time comes.
  private static func start<Failure>(
    of moment: Int64, after: Int64, _ run: (Query) throws(Failure) -> [(Int64, Int64)]
  ) throws(Failure) -> Int64 {
    var low = after
    var high = try run(Query(sql: "SELECT coalesce(max(id), 0), 0 FROM payload")).first?.0 ?? 0
    while low < high {
      let middle = low + (high - low) / 2
      let next = try run(Query(sql: "SELECT id, enqueued_at FROM payload WHERE id > \(middle) ORDER BY id LIMIT 1")).first
      if let next, next.1 < moment { low = next.0 } else { high = middle }
    }
    return low
  }

  private static let queryRanks = """
    WITH RECURSIVE ranks (rank) AS (
        SELECT min(rank) FROM work WHERE state = 0
        UNION ALL SELECT (SELECT min(rank) FROM work WHERE state = 0 AND rank > ranks.rank) FROM ranks WHERE ranks.rank IS NOT NULL)
    SELECT rank, 0 FROM ranks WHERE rank IS NOT NULL LIMIT \(maximumRanks)
    """

  /// Returns the query of the payloads that match, and of the last one that was looked at with their
  /// number.
  private func query(_ looked: String, _ conditions: [String], reach: Int) -> Query {
    let joins = conditions.isEmpty ? "" : "LEFT JOIN work w ON w.id = looked.id LEFT JOIN result r ON r.id = looked.id"
    let condition = conditions.isEmpty ? "" : "WHERE " + conditions.map { "(\($0))" }.joined(separator: " AND ")
    return Query(
      sql: """
        WITH looked AS MATERIALIZED (SELECT id FROM (\(looked)) AS walk ORDER BY id LIMIT \(reach)),
          matched AS MATERIALIZED (SELECT looked.id AS id FROM looked \(joins) \(condition) ORDER BY looked.id LIMIT \(limit))
        SELECT id, 0 AS count, 0 AS part FROM matched
        UNION ALL SELECT coalesce((SELECT max(id) FROM looked), 0), (SELECT count(*) FROM looked), 1 ORDER BY 3, 1
        """, values: values)
  }

  private mutating func parameter(_ value: Value) -> String {
    values.append(value)
    return dialect.parameter(values.count, value)
  }

  // MARK: The oldest

  /// The states that ``queryOldest(undelivered:)`` has, in the order of its columns.
  package static let agingStates: [PayloadState] = [.ready, .waiting, .leased, .done]

  /// Returns a query of the times at which the oldest payloads of ``agingStates`` were enqueued.
  ///
  /// It looks up the first payload of each of ``maximumRanks`` priorities. `id + 0` keeps PostgreSQL from
  /// walking over all payloads to the first one in a rare state.
  ///
  /// - Parameter undelivered: a query of the lowest number of undelivered results.
  package static func queryOldest(undelivered: String, _ now: Now) -> String {
    let rare = (["state = 1"] + now.due("").map { "state = 2 AND \($0.condition)" }).map { "SELECT min(id + 0) FROM work WHERE \($0)" }
    let ready = (["SELECT id FROM (SELECT id FROM head LIMIT \(maximumRanks)) AS heads"] + rare).joined(separator: " UNION ALL ")
    let numbers = [
      "SELECT min(id) FROM (\(ready)) AS ready",
      "SELECT id FROM work WHERE state = 2 AND NOT (\(now.isDue())) ORDER BY id LIMIT 1",
      "SELECT min(id + 0) FROM work WHERE state = 3",
      undelivered,
    ]
    let moments = numbers.map { "(SELECT enqueued_at FROM payload WHERE id = (\($0)))" }
    return """
      WITH RECURSIVE head (rank, id) AS (
          SELECT rank, id FROM (SELECT rank, id FROM work WHERE state = 0 ORDER BY rank, id LIMIT 1) AS lowest
          UNION ALL SELECT next.rank, next.id FROM head JOIN work AS next
            ON next.id = (SELECT id FROM work WHERE state = 0 AND rank > head.rank ORDER BY rank, id LIMIT 1))
      SELECT \(moments.joined(separator: ", "))
      """
  }

  // MARK: The walk

  /// Returns a query of the numbers to look at, and the conditions that each of them meets.
  private mutating func looked(after: Int64, _ ranks: [Int64]) -> (sql: String, meets: Set<Condition>) {
    let behind = "id > \(after)"
    if let line = filter.line { return ("SELECT id FROM payload WHERE id = \(line) AND \(behind)", []) }
    switch filter.state {
    case .dropped?, .expired?, .timedOut?, .cancelled?:
      let status = filter.state?.rawValue ?? ""
      let table = dialect.table("result", "result_ended")
      return ("SELECT id FROM \(table) WHERE status = '\(status)' AND status <> 'delivered' AND NOT dead AND \(behind)", [.state])
    case .dead?:
      return ("SELECT id FROM \(dialect.table("result", "result_dead")) WHERE (dead OR status = 'poison') AND \(behind)", [.state])
    case .waiting?:
      let isDue = now.map { " AND NOT (\($0.isDue()))" } ?? ""
      return ("SELECT id FROM \(dialect.table("work", "work_waiting")) WHERE state = 2\(isDue) AND \(behind)", [.state])
    case .leased?: return ("SELECT id FROM \(dialect.table("work", "work_leased")) WHERE state = 3 AND \(behind)", [.state])
    case .ready?, .done?, .delivered?, nil: break
    }
    if let keys = filter.keys { return (queryKeys(keys, behind), [.key]) }
    if let reason = filter.reason, !reason.rawValue.hasPrefix(Self.unindexed) {
      let table = dialect.table("result", "result_reason")
      let indexed = "reason IS NOT NULL AND substr(reason, 1, \(Self.unindexed.utf8.count)) <> '\(Self.unindexed)'"
      return ("SELECT id FROM \(table) WHERE reason = '\(reason.rawValue)' AND \(indexed) AND \(behind)", [.reason])
    }
    switch filter.state {
    case .ready? where ranks.count < Self.maximumRanks: return (queryReady(ranks, behind), [.state])
    case .done?:
      let dead = "SELECT 1 FROM result AS other WHERE other.id = undelivered.id AND other.dead"
      return ("SELECT id FROM (\(dialect.queryUndelivered)) AS undelivered WHERE \(behind) AND NOT EXISTS (\(dead))", [.state])
    case .ready?: return ("SELECT id FROM work WHERE \(behind)", [])
    default: return (queryScope(behind), [])
    }
  }

  private func queryScope(_ behind: String) -> String {
    switch filter.scope {
    case .all: "SELECT id FROM payload WHERE \(behind)"
    case .retry, .redelivery, .purge: "SELECT id FROM result WHERE \(behind)"
    case .cancellation:
      "SELECT id FROM work WHERE \(behind) UNION ALL SELECT id FROM (\(dialect.queryUndelivered)) AS undelivered WHERE \(behind)"
    }
  }

  private mutating func queryKeys(_ keys: [[UInt8]], _ behind: String) -> String {
    let (own, shared) = parameters(of: keys)
    guard !keys.isEmpty else { return "SELECT id FROM payload WHERE 1 = 0" }
    // A campaign may have a million payloads: each search key is walked in the order of numbers.
    let walks = ["payload WHERE key IN (\(own.joined(separator: ", ")))"] + shared.map { "\(dialect.searchKeys) WHERE search_key = \($0)" }
    return limited(walks.map { "SELECT id FROM \($0) AND \(behind)" }).joined(separator: " UNION ")
  }

  private mutating func parameters(of keys: [[UInt8]]) -> (own: [String], shared: [String]) {
    (keys.map { parameter(.bytes(dialect.key($0))) }, keys.map { parameter(.bytes($0)) })
  }

  /// Payloads of one priority are in the order of their numbers.
  private func queryReady(_ ranks: [Int64], _ behind: String) -> String {
    let parts = ranks.map { "SELECT id FROM \(dialect.table("work", "work_ready")) WHERE state = 0 AND rank = \($0) AND \(behind)" }
    let suspects = "SELECT id FROM \(dialect.table("work", "work_suspect")) WHERE state = 1 AND \(behind)"
    // `id + 0` keeps PostgreSQL from walking over all waiting rows in the order of their numbers.
    let due = now?.due("").map { condition, index in
      "SELECT id + 0 AS id FROM \(dialect.table("work", index)) WHERE state = 2 AND (\(condition)) AND \(behind)"
    }
    return limited(parts + [suspects] + (due ?? [])).joined(separator: " UNION ")
  }

  /// Limits each part, so that no more than the walk needs is sorted.
  private func limited(_ parts: [String]) -> [String] {
    let most = isMetByWalk ? limit : max(Self.reach, limit)
    return parts.map { "SELECT id FROM (\($0) ORDER BY id LIMIT \(most)) AS part" }
  }

  /// Whether a walk by the state or by the keys leaves no condition.
  private var isMetByWalk: Bool {
    filter.scope == .all && filter.reason == nil && filter.answer == nil && filter.since == nil
      && (filter.state == nil) != (filter.keys == nil)
  }

  // MARK: Conditions

  /// A condition of a filter that a walk can meet.
  private enum Condition: Hashable {
    case state, reason, key
  }

  /// Returns the conditions that the walk does not meet, on rows of `looked`, `work` as `w` and `result` as `r`.
  private mutating func conditions(isIndexed meets: Set<Condition>) -> [String] {
    var conditions: [String] = []
    if let state = filter.state, !meets.contains(.state) { conditions.append(condition(of: state)) }
    if let reason = filter.reason, !meets.contains(.reason) { conditions.append("r.reason = '\(reason.rawValue)'") }
    if let keys = filter.keys, !meets.contains(.key) {
      let (own, shared) = parameters(of: keys)
      let isOne =
        keys.isEmpty ? "1 = 0" : "p.key IN (\(own.joined(separator: ", "))) OR p.search_key IN (\(shared.joined(separator: ", ")))"
      conditions.append("EXISTS (SELECT 1 FROM payload p WHERE p.id = looked.id AND (\(isOne)))")
    }
    if let answer = filter.answer {
      let last = "SELECT text FROM event WHERE event.id = looked.id ORDER BY stage DESC, attempt DESC LIMIT 1"
      conditions.append("\(dialect.position)(coalesce(r.answer, (\(last)), ''), \(parameter(.text(answer)))) > 0")
    }
    if let since = filter.since {
      conditions.append("EXISTS (SELECT 1 FROM payload p WHERE p.id = looked.id AND p.enqueued_at >= \(since.microseconds))")
    }
    return conditions + scopeConditions(isIndexed: meets)
  }

  private func condition(of state: PayloadState) -> String {
    let undelivered = dialect.undelivered
    return switch state {
    case .ready: "w.state IN (0, 1)" + (now.map { " OR w.state = 2 AND \($0.isDue("w."))" } ?? "")
    case .waiting: "w.state = 2" + (now.map { " AND NOT (\($0.isDue("w.")))" } ?? "")
    case .leased: "w.state = 3"
    case .done: "NOT r.dead AND \(undelivered)"
    case .delivered: "NOT r.dead AND NOT (\(undelivered)) AND coalesce(r.status, 'delivered') = 'delivered'"
    case .dropped, .expired, .timedOut, .cancelled: "NOT r.dead AND r.status = '\(state.rawValue)'"
    case .dead: "r.dead OR r.status = 'poison'"
    }
  }

  private func scopeConditions(isIndexed meets: Set<Condition>) -> [String] {
    switch filter.scope {
    case .all: return []
    case .retry where filter.state == nil:
      let failed = filter.reason == nil && filter.line == nil ? ["r.outcome = '\(Outcome.fallback.rawValue)' OR r.dead"] : []
      return failed + ["r.id IS NOT NULL AND coalesce(r.status, '') NOT IN ('cancelled', 'expired')"]
    case .retry: return ["r.id IS NOT NULL"]
    case .redelivery where filter.state == nil: return ["r.status IN ('dropped', 'poison', 'timed-out')"]
    case .redelivery: return ["r.status <> 'delivered'"]
    case .cancellation:
      let isMet = filter.line == nil && !meets.contains(.key) && !meets.contains(.reason)
      return isMet ? [] : ["w.id IS NOT NULL OR \(dialect.undelivered)"]
    case .purge(let age, let includesUndelivered):
      let before = now?.wall.subtractingReportingOverflow(age.microseconds).partialValue ?? .min
      return ["r.finished_at <= \(before)"] + (includesUndelivered ? [] : ["NOT (\(dialect.undelivered))"])
    }
  }
}
