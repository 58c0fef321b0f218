import Foundation
import Glibc
import Synchronization
import Testing

/// A proxy on loopback between a queue and its server, which cuts a connection around the commit
/// of a chosen statement.
final class PostgreSQLProxy: Sendable {
  /// Where a connection is cut.
  enum Cut: String, CaseIterable, Sendable {
    /// The server receives the statement but no Sync, so it rolls the transaction back.
    case beforeCommit
    /// The server is told to commit, and the connection is cut at once.
    case withinCommit
    /// The server has committed, and its reply is dropped.
    case afterCommit
  }

  let port: UInt16
  private let listener: Int32
  private let server: UInt16
  private let state = Mutex(State())

  private struct State {
    var cut: (point: Cut, statement: String)?
    var connections: [Int32] = []
    var cuts = 0
    var isClosed = false
    /// Whether connections are refused.
    var isStopped = false
    var stopsAfterCut = false
  }

  /// - Parameter server: the port of the server on 127.0.0.1.
  init(to server: UInt16) throws {
    self.server = server
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(listener, pointer, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, pointer, &length) == 0
      }
    }
    try #require(isBound)
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in accept() }
  }

  /// The number of connections that were cut.
  var cuts: Int { state.withLock(\.cuts) }

  /// Cuts the next connection that runs a statement, once.
  func cutNext(_ point: Cut, of statement: String) {
    state.withLock { $0.cut = (point, statement) }
  }

  /// Cuts all connections now.
  func cutAll() {
    state.withLock { state in
      for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  /// Cuts all connections, and accepts no others until ``resume()``.
  func stop() {
    state.withLock { $0.isStopped = true }
    cutAll()
  }

  func resume() {
    state.withLock { $0.isStopped = false }
  }

  /// The next cut stops the proxy.
  func stopAfterCut() {
    state.withLock { $0.stopsAfterCut = true }
  }

  /// Accepts no more connections, and cuts all.
  func close() {
    state.withLock { $0.isClosed = true }
    shutdown(listener, Int32(SHUT_RDWR))
    cutAll()
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0, !state.withLock(\.isClosed) else { break }
      guard !state.withLock(\.isStopped) else {
        Glibc.close(client)
        continue
      }
      Thread.detachNewThread { [self] in serve(client) }
    }
    Glibc.close(listener)
  }

  private func serve(_ client: Int32) {
    let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = Self.loopback(server)
    let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe connect(upstream, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected {
      // Each message is written on its own. A socket would else wait for the acknowledgement of the one before.
      var yes: Int32 = 1
      for end in [client, upstream] {
        unsafe setsockopt(end, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
      }
      state.withLock { $0.connections += [client, upstream] }
      relay(client, upstream)
      state.withLock { state in state.connections.removeAll { $0 == client || $0 == upstream } }
    }
    Glibc.close(client)
    Glibc.close(upstream)
  }

  private func relay(_ client: Int32, _ upstream: Int32) {
    var (front, back) = (MessageReader(hasStartup: true), MessageReader(hasStartup: false))
    var statements: Set<String> = []
    var pending: Cut?
    while true {
      var entries = [pollfd(fd: client, events: Int16(POLLIN), revents: 0), pollfd(fd: upstream, events: Int16(POLLIN), revents: 0)]
      guard unsafe poll(&entries, 2, -1) > 0 else { return }
      if entries[0].revents != 0 {
        guard let bytes = Self.read(client) else { return }
        for message in front.messages(bytes) {
          if let name = message.boundStatement { statements.insert(name) }
          if message.type == UInt8(ascii: "S") {
            pending = state.withLock { state in
              guard let cut = state.cut, statements.contains(cut.statement) else { return nil }
              state.cut = nil
              state.cuts += 1
              state.isStopped = state.stopsAfterCut
              return cut.point
            }
            statements = []
            if pending == .beforeCommit { return }
          }
          guard Self.write(message.bytes, to: upstream) else { return }
          if pending == .withinCommit { return }
        }
      }
      if entries[1].revents != 0 {
        guard let bytes = Self.read(upstream) else { return }
        for message in back.messages(bytes) {
          if pending == .afterCommit {
            if message.type == UInt8(ascii: "Z") { return }
            continue
          }
          guard Self.write(message.bytes, to: client) else { return }
        }
      }
    }
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}

/// Splits a stream of PostgreSQL's protocol into messages: a type, a length that counts itself, and
/// the rest. The first message of a client has no type.
private struct MessageReader {
  struct Message {
    var type: UInt8
    var bytes: [UInt8]

    /// The prepared statement that a Bind message names, after the name of a portal.
    var boundStatement: String? {
      guard type == UInt8(ascii: "B") else { return nil }
      let names = bytes.dropFirst(5).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
      return names.count > 1 ? String(decoding: names[1], as: UTF8.self) : nil
    }
  }

  private var isStarting: Bool
  private var buffer: [UInt8] = []

  init(hasStartup: Bool) {
    isStarting = hasStartup
  }

  mutating func messages(_ bytes: [UInt8]) -> [Message] {
    buffer += bytes
    var messages: [Message] = []
    while true {
      let head = isStarting ? 0 : 1
      guard buffer.count >= head + 4 else { return messages }
      let length = head + Int(buffer[head..<head + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
      guard buffer.count >= length else { return messages }
      messages.append(Message(type: isStarting ? 0 : buffer[0], bytes: Array(buffer[..<length])))
      buffer.removeFirst(length)
      isStarting = false
    }
  }
}
