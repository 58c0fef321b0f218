import Glibc
import Synchronization

@testable import Attache

/// An HTTP proxy on 127.0.0.1 that resolves every name to 127.0.0.1, makes tunnels (CONNECT) and
/// forwards absolute URLs.
final class TunnelProxy: Sendable {
  private let socket: LoopbackSocket
  private let heard = Mutex<[String]>([])

  /// - Parameter answer: the status of every response; nil to forward requests.
  init(answer: Int? = nil) throws {
    socket = try LoopbackSocket(backlog: 64)
    try Thread.start("proxy") { [self] in
      while case let connection = accept(socket.descriptor, nil, nil), connection >= 0 {
        try? Thread.start("proxied") { [self] in
          serve(connection, answer)
          close(connection)
        }.detach()
      }
    }.detach()
  }

  var port: UInt16 { socket.port }
  var url: String { "http://127.0.0.1:\(port)" }

  /// The request lines so far.
  var requests: [String] { heard.withLock { $0 } }

  func stop() {
    // Wakes the thread that waits in accept.
    shutdown(socket.descriptor, Int32(SHUT_RDWR))
  }

  private func serve(_ client: Int32, _ answer: Int?) {
    guard let head = Self.head(from: client) else { return }
    let line = head.prefix { $0 != "\r\n" }
    heard.withLock { $0.append(String(line)) }
    let words = line.split(separator: " ")
    guard words.count == 3 else { return }
    if let answer { return Self.write("HTTP/1.1 \(answer) No\r\nContent-Length: 0\r\n\r\n", to: client) }
    let isTunnel = words[0] == "CONNECT"
    let place = isTunnel ? words[1] : words[1].dropFirst("http://".count).prefix { $0 != "/" }
    guard let colon = place.lastIndex(of: ":"), let port = UInt16(place[place.index(after: colon)...]),
      let origin = Self.connect(to: port)
    else { return Self.write("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", to: client) }
    defer { close(origin) }
    if isTunnel {
      Self.write("HTTP/1.1 200 Go ahead\r\n\r\n", to: client)
    } else {
      Self.write(
        String(words[0] + " " + words[1].dropFirst("http://".count + place.count) + " " + words[2]) + head.dropFirst(line.count), to: origin
      )
    }
    Self.splice(client, origin)
  }

  /// Copies in both directions until one side closes.
  private static func splice(_ one: Int32, _ other: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var polled = [pollfd(fd: one, events: Int16(POLLIN), revents: 0), pollfd(fd: other, events: Int16(POLLIN), revents: 0)]
    while unsafe poll(&polled, 2, -1) > 0 {
      for (index, target) in [(0, other), (1, one)] where polled[index].revents != 0 {
        let count = unsafe recv(polled[index].fd, &buffer, buffer.count, 0)
        guard count > 0, unsafe send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
      }
    }
  }

  private static func head(from client: Int32) -> String? {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while head.count < 16_384, unsafe recv(client, &byte, 1, 0) == 1 {
      head.append(byte)
      if head.suffix(4).elementsEqual("\r\n\r\n".utf8) { return String(decoding: head, as: UTF8.self) }
    }
    return nil
  }

  private static func write(_ text: some StringProtocol, to socket: Int32) {
    let bytes = Array(text.utf8)
    _ = unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  private static func connect(to port: UInt16) -> Int32? {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    name.sin_port = port.bigEndian
    let code = unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}
