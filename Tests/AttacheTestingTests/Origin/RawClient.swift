import AttacheTesting
import Glibc

/// A TCP connection that shows every byte.
final class RawClient {
  enum Ending: Equatable { case closed, reset, silence }

  struct Failure: Error {
    let call: String
    let number: CInt
  }

  private let descriptor: CInt

  init(_ origin: FaultOrigin) throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    // Only a failing test waits this long.
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(origin.port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let result = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure(call: "connect", number: errno) }
  }

  deinit {
    close(descriptor)
  }

  func get(_ path: String, _ fields: String..., method: String = "GET") {
    write("\(method) \(path) HTTP/1.1\r\nHost: origin\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  /// Reads exactly this many bytes, fewer only at the end of the connection.
  func read(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count, case .some(let more) = some(count - bytes.count) { bytes += more }
    return bytes
  }

  /// Reads one response: its head as text, and the body of `Content-Length` bytes.
  func response() -> WireResponse {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]), case .some(let byte) = some(1) { head += byte }
    var response = WireResponse(head)
    response.body = read(response.field("Content-Length").flatMap { Int($0) } ?? 0)
    return response
  }

  /// Reads to the end of the connection. Returns the bytes and how the connection ended.
  func rest() -> (response: WireResponse, ending: Ending) {
    var bytes: [UInt8] = []
    while case .some(let more) = some(65_536) { bytes += more }
    return (WireResponse(bytes), ending)
  }

  private(set) var ending = Ending.silence

  private func some(_ count: Int) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: count)
    let received = unsafe recv(descriptor, &buffer, count, 0)
    if received == 0 { ending = .closed }
    if received < 0 && errno == ECONNRESET { ending = .reset }
    return received > 0 ? Array(buffer.prefix(received)) : nil
  }
}

/// A response as received.
struct WireResponse {
  let statusLine: String
  let fields: [(name: String, value: String)]
  var body: [UInt8]

  init(_ bytes: [UInt8]) {
    let end = bytes.indices.first { bytes[$0...].starts(with: [13, 10, 13, 10]) } ?? bytes.count
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    statusLine = lines.first.map(String.init) ?? ""
    fields = lines.dropFirst().map { line in
      let parts = line.split(separator: ": ", maxSplits: 1)
      return (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : "")
    }
    body = Array(bytes.dropFirst(end + 4))
  }

  var status: Int? { Int(statusLine.dropFirst(9).prefix(3)) }

  func field(_ name: String) -> String? { values(name).first }

  func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}

/// Runs an origin while the closure runs.
func withOrigin(
  tls: FaultOrigin.TLS = .none, folder: String? = nil, connectionFault: ConnectionFault? = nil, _ body: (FaultOrigin) async throws -> Void
) async throws {
  let origin = try await FaultOrigin.start(tls: tls, folder: folder, connectionFault: connectionFault)
  do { try await body(origin) } catch {
    await origin.stop()
    throw error
  }
  await origin.stop()
}

/// 1,000 bytes, each of which shows its position.
let photo = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
