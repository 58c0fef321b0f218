import CExtensionRuntime
import Groundwork

/// A frame of the host. Numbers are in this machine's byte order.
package enum HostFrame: @unchecked Sendable {
  /// Kind 1: a JSON object about the network.
  case settings([String: Any])
  /// Kind 2: the request's number in eight bytes, 1 in a byte if the process's instance serves it,
  /// the length of the identifier in two bytes, the identifier, and the payload.
  case request(UInt64, isReused: Bool, identifier: String, payload: Data)
  /// Kind 3: the number of the request whose time is over.
  case expire(UInt64)
  /// Kind 4: the number of a request that is decided. What is still known of it is sent.
  case finish(UInt64)
  /// Kind 5: the process must end.
  case stop

  /// Waits for the next frame.
  ///
  /// - Returns: nil if the host is gone, or sent something else.
  static func read() -> HostFrame? {
    var content: UnsafeMutablePointer<UInt8>?
    let count = runtime_read(&content)
    guard count > 0, let content else { return nil }
    return HostFrame(Data(bytesNoCopy: content, count: count, deallocator: .free))
  }

  private init?(_ bytes: Data) {
    let content = bytes.dropFirst()
    switch bytes.first {
    case 1:
      guard let settings = try? JSONSerialization.jsonObject(with: Data(content)) as? [String: Any] else { return nil }
      self = .settings(settings)
    case 2:
      guard content.count >= 11, let number = Self.number(content) else { return nil }
      let length = Int(content[content.startIndex + 9]) | Int(content[content.startIndex + 10]) << 8
      guard content.count >= 11 + length else { return nil }
      let rest = content.dropFirst(11)
      self = .request(
        number, isReused: content[content.startIndex + 8] == 1, identifier: String(decoding: rest.prefix(length), as: UTF8.self),
        payload: Data(rest.dropFirst(length)))
    case 3:
      guard let number = Self.number(content) else { return nil }
      self = .expire(number)
    case 4:
      guard let number = Self.number(content) else { return nil }
      self = .finish(number)
    case 5: self = .stop
    default: return nil
    }
  }

  private static func number(_ content: Data.SubSequence) -> UInt64? {
    guard content.count >= 8 else { return nil }
    return content.prefix(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }
}
