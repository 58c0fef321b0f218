public import AttacheQueue
internal import CPQ

/// The address of a queue in a PostgreSQL database:
/// `postgresql://[USER@]HOST[:PORT][,HOST…]/DATABASE[?queue=NAME&OPTION=VALUE…]`.
///
/// It is libpq's URI. `queue` is attache's own: several queues may share a database. libpq's
/// environment variables are ignored.
///
/// Source: https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING
public struct PostgreSQLAddress: QueueAddress {
  /// The servers, in the order to try.
  let servers: [ServerAddress]
  /// The schema of the queue's tables.
  let schema: String
  public let description: String

  public static let schemes = ["postgresql", "postgres"]

  private static let passwordError = QueueAddressError(
    "the address of a queue must not contain a password, because other users can see it; put it into ~/.pgpass, or name a file with passfile=FILE"
  )

  /// Loads libpq once. This changes the environment, so the first address is parsed before other
  /// threads use it.
  private static let isLoaded = cpq_load()

  /// The longest name of a queue, so that the name of its schema fits PostgreSQL's 63 bytes.
  private static let maximumName = 40

  /// Parses an address.
  ///
  /// - Throws: ``QueueAddressError`` with a sentence that says what is wrong.
  public init(parsing text: String) throws(QueueAddressError) {
    guard !text.utf8.contains(0) else { throw QueueAddressError("the address of a queue cannot contain a NUL byte") }
    let parts = URIParts(text)
    guard !parts.hasPassword else { throw Self.passwordError }
    let name = parts.queue ?? "main"
    guard 1...Self.maximumName ~= name.utf8.count, name.utf8.allSatisfy(Self.isOfName) else {
      throw QueueAddressError("queue=\(name): the name of a queue has 1 to \(Self.maximumName) of the characters a-z, 0-9 and _")
    }
    let schema = "attache_\(name)"
    self.schema = schema
    guard Self.isLoaded else {
      throw QueueAddressError(
        "a PostgreSQL queue needs libpq, which cannot be loaded (\(unsafe String(cString: cpq_error()))); on Debian, install libpq5")
    }
    var keywords = try Self.keywords(of: parts.rest)
    // A password may contain characters that end the parts of a URI.
    guard keywords["password"] == nil, keywords["sslpassword"] == nil else { throw Self.passwordError }
    guard let database = keywords.removeValue(forKey: "dbname"), !database.isEmpty else {
      throw QueueAddressError("the address of a queue names its database, as in postgresql://HOST/DATABASE")
    }
    servers = try Self.servers(&keywords, database: database, schema: schema)
    let user = keywords["user"].map { "\($0)@" } ?? ""
    // The folder of a socket cannot stand before the database.
    let sockets = servers.contains { $0.host.hasPrefix("/") || $0.host.hasPrefix("@") }
    let places = sockets ? "" : servers.map(\.place).joined(separator: ",")
    let options = [
      sockets ? "host=" + servers.map { $0.host.replacing("/", with: "%2F") }.joined(separator: ",") : nil,
      parts.queue.map { "queue=\($0)" },
    ].compactMap(\.self)
    description = "postgresql://\(user)\(places)/\(database)" + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
  }

  /// Takes the hosts from the keywords of a connection.
  private static func servers(
    _ keywords: inout [String: String], database: String, schema: String
  ) throws(QueueAddressError) -> [ServerAddress] {
    let hosts = list(keywords.removeValue(forKey: "host") ?? "")
    let addresses = keywords.removeValue(forKey: "hostaddr").map(list)
    let ports = list(keywords.removeValue(forKey: "port") ?? ServerAddress.usualPort)
    let count = max(hosts.count, addresses?.count ?? 0)
    guard ports.count == 1 || ports.count == count else {
      throw QueueAddressError("the address of a queue has \(count) hosts and \(ports.count) ports; give one port for all, or one for each")
    }
    guard addresses == nil || addresses?.count == count, hosts.count == count || hosts == [""] else {
      throw QueueAddressError(
        "the address of a queue has \(hosts.count) hosts and \(addresses?.count ?? 0) addresses in hostaddr; give one for each host")
    }
    return (0..<count).map { [keywords] index in
      let port = ports[ports.count == 1 ? 0 : index]
      let host = hosts.count == 1 ? hosts[0] : hosts[index]
      return ServerAddress(
        host: host.isEmpty ? addresses?[index] ?? "" : host, address: addresses?[index],
        port: port.isEmpty ? ServerAddress.usualPort : port,
        database: database, keywords: keywords, schema: schema)
    }
  }

  public static let form = "postgresql://HOST/DATABASE"

  public func open(_ opening: QueueOpening) throws(QueueError) -> any PayloadQueue {
    try PostgreSQLQueue(self, opening)
  }

  public func remove() throws(QueueError) {
    try PostgreSQLQueue.remove(self)
  }

  /// The `sslmode` of each server, for tests; `none` where libpq's own default applies.
  package var sslModes: [String] { servers.map { $0.sslMode ?? "none" } }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }

  private static func list(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  /// Returns libpq's keywords of a URI.
  private static func keywords(of uri: String) throws(QueueAddressError) -> [String: String] {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = unsafe PQconninfoParse(uri, &message) else {
      let text = unsafe message.map { unsafe String(cString: $0) } ?? "not enough memory"
      unsafe PQfreemem(message)
      throw QueueAddressError("the address of the queue is wrong: \(text.trimmed)")
    }
    defer { unsafe PQconninfoFree(options) }
    var keywords: [String: String] = [:]
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val { unsafe keywords[String(cString: keyword)] = unsafe String(cString: value) }
      unsafe option += 1
    }
    return keywords
  }
}
