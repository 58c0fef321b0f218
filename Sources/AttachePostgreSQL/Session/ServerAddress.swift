internal import Glibc

/// One server of a queue's address, and how to connect to it.
struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
  /// A name, an address, or the folder of a socket.
  let host: String
  let port: String
  let database: String
  private var keywords: [String: String]
  private let schema: String

  /// The value that libpq uses when no port is given.
  static let usualPort = "5432"

  /// - Parameters:
  ///   - keywords: libpq's keywords of the queue's address, apart from the host and the port.
  ///   - schema: the schema of the queue.
  init(host: String, address: String?, port: String, database: String, keywords: [String: String], schema: String) {
    (self.host, self.port, self.database) = (host, port, database)
    var all = Self.defaults.merging(keywords) { _, given in given }
    if !Self.isOnThisMachine(address ?? host), all["sslmode"] == nil { all["sslmode"] = "verify-full" }
    if all["sslmode"]?.hasPrefix("verify") == true, all["sslrootcert"] == nil { all["sslrootcert"] = Self.rootCertificates }
    all["host"] = host.isEmpty ? nil : host
    all["hostaddr"] = address
    all["port"] = port
    all["dbname"] = database
    self.keywords = all
    self.schema = schema
  }

  /// The host and the port, and the address that a lookup found.
  var description: String {
    let address = keywords["hostaddr"].map { $0 == host ? "" : " (\($0))" } ?? ""
    return "\(host.isEmpty ? "the local socket" : host):\(port)\(address)"
  }

  /// The host, if it is a name whose addresses must be looked up.
  var hostToLookUp: String? {
    var bytes = in6_addr()
    let isNamed = keywords["hostaddr"] == nil && !host.isEmpty && !host.hasPrefix("/") && !host.hasPrefix("@")
    let isAddress = unsafe inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
    return isNamed && !isAddress ? host : nil
  }

  /// Returns the server at an address of its host.
  func at(_ address: String) -> ServerAddress {
    var server = self
    server.keywords["hostaddr"] = address
    return server
  }

  /// The host and, unless it is the usual one, the port, as in a URI.
  var place: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == Self.usualPort ? host : "\(host):\(port)"
  }

  var sslMode: String? { keywords["sslmode"] }

  /// The keywords and values of `PQconnectStartParams`.
  var options: [(String, String)] { keywords.map { ($0.key, $0.value) } }

  /// The settings of a session.
  ///
  /// - The plans must not depend on the statistics of a queue, which is empty at one time and has
  ///   millions of rows at another. So each statement has one plan, and rows are found by indexes.
  /// - A batch of results fits into `work_mem`; with the default of 4 MB it is written to a temporary
  ///   file.
  /// - The server notices within 11 s that a client's machine has vanished, and releases its locks.
  var settings: [(name: String, value: String)] {
    [
      ("search_path", schema), ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("enable_hashjoin", "off"),
      ("enable_mergejoin", "off"), ("jit", "off"), ("max_parallel_workers_per_gather", "0"), ("work_mem", "64MB"),
      ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"), ("tcp_keepalives_count", "3"), ("client_min_messages", "error"),
      ("statement_timeout", "0"), ("lock_timeout", SessionPool.lockTimeout), ("idle_in_transaction_session_timeout", "60s"),
      ("default_transaction_isolation", "read committed"), ("synchronous_commit", "on"),
    ]
  }

  private static func isOnThisMachine(_ host: String) -> Bool {
    host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1" || IPv4Loopback.contains(host)
  }

  /// With these, a connection to a vanished server ends after 11 s; with Linux's defaults, after
  /// about 15 minutes. In seconds; `tcp_user_timeout` in milliseconds.
  private static let defaults = [
    "application_name": "attache", "client_encoding": "UTF8", "gssencmode": "disable", "target_session_attrs": "read-write",
    "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3", "tcp_user_timeout": "11000",
  ]

  /// Debian's root certificates. `sslrootcert=system` needs libpq 16.
  private static let rootCertificates = "/etc/ssl/certs/ca-certificates.crt"
}

private enum IPv4Loopback {
  /// Whether a host is an address of 127.0.0.0/8 in its usual form.
  static func contains(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { !$0.hasPrefix("+") && UInt8($0) != nil }
  }
}
