/// Parses the faults that a path names: `/delay/250ms/photo.jpg` is `/photo.jpg` with a delay.
/// Prefixes can be combined and apply in order.
public enum FaultPath {
  /// An error in a path's faults.
  public struct Mistake: Error, Hashable, CustomStringConvertible {
    /// A sentence that describes the error.
    public let description: String
  }

  /// A row of the table.
  struct Row: Sendable {
    enum Kind: Sendable {
      case plain(Fault)
      case value(example: String, @Sendable (String) -> Fault?)
      /// A prefix that modifies the next fault.
      case wrapping(example: String, @Sendable (Int, Fault) -> Fault)
    }

    let name: String
    let kind: Kind
    let meaning: String

    /// The prefix as shown in the help.
    var example: String {
      switch kind {
      case .plain: "/\(name)"
      case .value(let example, _): "/\(name)/\(example)"
      case .wrapping(let example, _): "/\(name)/\(example)/FAULT"
      }
    }
  }

  /// All fault paths, in the order of the help.
  static let table: [Row] = [
    Row(name: "delay", kind: .value(example: "250ms") { Duration(faultValue: $0).map(Fault.delay) }, meaning: "wait before the response"),
    Row(name: "stall", kind: .plain(.stallBeforeHeaders), meaning: "never answer"),
    Row(name: "stall-after", kind: .count(512) { .stall(afterBytes: $0) }, meaning: "stop after this many bytes of the body"),
    Row(name: "drip", kind: .count(1000) { .drip(bytesPerSecond: $0) }, meaning: "this many bytes per second"),
    Row(name: "reset", kind: .count(512) { .reset(afterBytes: $0) }, meaning: "TCP reset after this many bytes of the body"),
    Row(name: "reset-early", kind: .plain(.resetBeforeHeaders), meaning: "TCP reset instead of a response"),
    Row(name: "close", kind: .count(512) { .closeEarly(afterBytes: $0) }, meaning: "close after this many bytes of the body"),
    Row(name: "close-early", kind: .plain(.closeBeforeHeaders), meaning: "close instead of a response"),
    Row(name: "length", kind: .value(example: "+10", lengthError), meaning: "Content-Length 10 too long; -10: too short"),
    Row(name: "two-lengths", kind: .plain(.twoContentLengths), meaning: "two Content-Lengths that differ"),
    Row(name: "no-length", kind: .plain(.noContentLength), meaning: "no Content-Length; the close ends the body"),
    Row(name: "chunked", kind: .plain(.chunked), meaning: "a chunked body"),
    Row(name: "endless", kind: .plain(.endlessChunks), meaning: "a chunked body that never ends"),
    Row(name: "status", kind: .value(example: "503", status), meaning: "this status; 503,1 adds Retry-After: 1"),
    Row(name: "redirect", kind: .count(3) { .redirectChain(hops: $0) }, meaning: "this many redirects first"),
    Row(name: "redirect-to", kind: .value(example: "http%3A%2F%2Fx.y%2F") { .redirect(to: $0) }, meaning: "a redirect to this URL"),
    Row(name: "loop", kind: .plain(.redirectLoop), meaning: "endless redirects"),
    Row(name: "type", kind: .value(example: "text%2Fhtml") { .contentType($0) }, meaning: "this Content-Type"),
    Row(name: "gzip", kind: .plain(.gzip), meaning: "gzip, although the client did not ask for it"),
    Row(name: "etag", kind: .value(example: "v1") { .etag("\"\($0)\"") }, meaning: "this entity tag, with 304 and 206"),
    Row(name: "headers", kind: .count(1000, upTo: 100_000) { .headerFlood(count: $0) }, meaning: "this many extra header fields"),
    Row(name: "endless-headers", kind: .plain(.endlessHeaders), meaning: "a header that never ends"),
    Row(name: "garbage", kind: .plain(.notHTTP), meaning: "an SSH banner instead of HTTP"),
    Row(name: "connection-close", kind: .plain(.connectionClose), meaning: "Connection: close"),
    Row(name: "http10", kind: .plain(.http10), meaning: "an HTTP/1.0 answer"),
    Row(name: "times", kind: .wrapping(example: "2") { .times($0, $1) }, meaning: "the fault for the first 2 requests only"),
    Row(name: "after", kind: .wrapping(example: "2") { .after($0, $1) }, meaning: "the fault from the third request on"),
  ]

  /// The table as text, one line per row.
  public static var help: String {
    let width = table.map(\.example.count).max() ?? 0
    let rows = table.map { "  \($0.example)\(String(repeating: " ", count: width - $0.example.count))  \($0.meaning)\n" }
    return "Put faults before the path of a file, as in /delay/1s/status/503/photo.jpg:\n\n" + rows.joined()
  }

  /// Parses the faults at the front of a path.
  /// - Returns: the faults and the rest of the path.
  /// - Throws: `Mistake` when a fault's value is missing or wrong.
  public static func parse(_ path: String) throws(Mistake) -> (faults: [Fault], rest: String) {
    var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    var faults: [Fault] = []
    while let fault = try nextFault(&segments) { faults.append(fault) }
    return (faults, "/" + segments.joined(separator: "/"))
  }

  /// The maximum number of faults that wrap another one. Each is a recursive call.
  private static let deepest = 16

  private static func nextFault(_ segments: inout ArraySlice<Substring>, depth: Int = 0) throws(Mistake) -> Fault? {
    guard depth <= deepest else { throw Mistake(description: "at most \(deepest) of times and after are allowed before a fault") }
    guard let name = segments.first, let row = table.first(where: { $0.name == name }) else { return nil }
    segments.removeFirst()
    switch row.kind {
    case .plain(let fault): return fault
    case .value(_, let fault):
      guard let value = segments.popFirst().flatMap({ PercentEncoding.decode($0) }), let fault = fault(value) else { throw mistake(row) }
      return fault
    case .wrapping(_, let wrap):
      guard let count = segments.popFirst().flatMap({ Int($0) }), let fault = try nextFault(&segments, depth: depth + 1) else {
        throw mistake(row)
      }
      return wrap(count, fault)
    }
  }

  private static func mistake(_ row: Row) -> Mistake {
    Mistake(description: "/\(row.name) is written as in \(row.example)/photo.jpg")
  }

  /// The largest accepted number: a terabyte for a count of bytes.
  fileprivate static let largestCount = 1_000_000_000_000

  private static func lengthError(_ value: String) -> Fault? {
    Int(value).flatMap { $0.magnitude <= largestCount ? .contentLength(offBy: $0) : nil }
  }

  private static func status(_ value: String) -> Fault? {
    let parts = value.split(separator: ",", maxSplits: 1).map { Int($0) }
    guard let status = parts.first ?? nil, (200...599).contains(status) else { return nil }
    return .status(status, retryAfter: parts.count > 1 ? parts[1] : nil)
  }
}

extension FaultPath.Row.Kind {
  /// Returns a kind whose value is a number from zero to a maximum.
  fileprivate static func count(_ example: Int, upTo maximum: Int = FaultPath.largestCount, _ fault: @escaping @Sendable (Int) -> Fault)
    -> Self
  {
    .value(example: String(example)) { text in Int(text).flatMap { 0...maximum ~= $0 ? fault($0) : nil } }
  }
}

extension Duration {
  /// Parses `250ms`, `2s` or `1m`; the number is at most 86,400,000.
  fileprivate init?(faultValue text: String) {
    let unit = text.drop { $0.isASCII && $0.isNumber }
    guard let number = Int(text.prefix(text.count - unit.count)), number <= 86_400_000 else { return nil }
    switch unit {
    case "ms": self = .milliseconds(number)
    case "s": self = .seconds(number)
    case "m": self = .seconds(number * 60)
    default: return nil
    }
  }
}
