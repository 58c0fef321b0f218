/// A frame: its length in four bytes, its kind in one byte, and the content. All numbers are in
/// this machine's byte order, because both ends are the same program.
enum FetcherFrame {
  /// The longest frame: a URL of ``URLGate/maximumBytes`` with ``OriginFields/maximumBytes``, or a message, plus numbers.
  static let maximumBytes = 16 << 10
  /// The longest message, in bytes.
  static let maximumMessage = 1 << 10
  static let headBytes = 4

  /// The bytes are not a valid frame.
  struct Invalid: Error {}

  static func append(_ request: FetcherRequest, to bytes: inout [UInt8]) {
    frame(&bytes) { bytes in
      switch request {
      case .fetch(let number, let place, let payload, let deadline, let isRefused, let fields, let url):
        bytes.append(1)
        put(number, &bytes)
        put(place, &bytes)
        put(payload, &bytes)
        put(deadline.nanoseconds, &bytes)
        bytes.append(isRefused ? 1 : 0)
        put(UInt8(fields.count), &bytes)
        for field in fields {
          put(UInt16(field.utf8.count), &bytes)
          bytes.append(contentsOf: field.utf8)
        }
        bytes.append(contentsOf: url.utf8)
      case .extend(let number, let payload, let deadline):
        bytes.append(2)
        put(number, &bytes)
        put(payload, &bytes)
        put(deadline.nanoseconds, &bytes)
      case .cancel(let number):
        bytes.append(3)
        put(number, &bytes)
      case .pulse(let number):
        bytes.append(4)
        put(number, &bytes)
      case .close:
        bytes.append(5)
      }
    }
  }

  static func append(_ reply: FetcherReply, to bytes: inout [UInt8]) {
    frame(&bytes) { bytes in
      switch reply {
      case .fetched(let result):
        bytes.append(1)
        put(result, &bytes)
      case .ready(let missing):
        bytes.append(6)
        bytes.append(missing.rawValue)
      case .left(let number, let health):
        bytes.append(5)
        put(number, &bytes)
        put(health, &bytes)
      case .converts(let number, let milliseconds):
        bytes.append(7)
        put(number, &bytes)
        put(milliseconds, &bytes)
      case .load(let milliseconds):
        bytes.append(8)
        put(milliseconds, &bytes)
      case .alive(let number):
        bytes.append(2)
        put(number, &bytes)
      case .closed(let warning):
        bytes.append(3)
        put(message: warning, &bytes)
      case .failed(let message):
        bytes.append(4)
        put(message: message, &bytes)
      case .survived(let message):
        bytes.append(9)
        put(message: message, &bytes)
      }
    }
  }

  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
  }

  private static func frame(_ bytes: inout [UInt8], _ body: (inout [UInt8]) -> Void) {
    let start = bytes.count
    put(UInt32(0), &bytes)
    body(&bytes)
    let length = UInt32(bytes.count - start - headBytes)
    unsafe bytes.withUnsafeMutableBytes { unsafe $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
  }

  private static func put<Value: BitwiseCopyable>(_ value: Value, _ bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
  }

  private static func put(_ result: FetcherResult, _ bytes: inout [UInt8]) {
    put(result.progress.raw(of: result.fetch), &bytes)
    put(result.added, &bytes)
    put(result.health, &bytes)
    switch result.end {
    case .stored(let file, let keptUntil):
      bytes.append(file.type.code)
      put(file.name.digest, &bytes)
      put(Int64(file.size), &bytes)
      put(keptUntil?.nanoseconds ?? .min, &bytes)
      bytes.append(file.isPrivate ? 1 : 0)
      bytes.append(file.conversion?.code ?? 0)
      put((Int64(file.conversion?.width ?? 0), Int64(file.conversion?.height ?? 0)), &bytes)
    case .failed(let failure):
      bytes.append(0)
      put(UInt16(Reason.allCases.firstIndex(of: failure.reason) ?? 0), &bytes)
      bytes.append(failure.isOfMachine ? 1 : 0)
      put(message: failure.message, &bytes)
    }
  }

  private static func put(_ health: OriginHealth, _ bytes: inout [UInt8]) {
    bytes.append(health.signal?.rawValue ?? 0)
    put(health.since?.nanoseconds ?? .min, &bytes)
  }

  /// Control characters are replaced, because messages go into the log. The other end rejects them.
  private static func put(message: String, _ bytes: inout [UInt8]) {
    let start = bytes.count
    for scalar in message.unicodeScalars {
      let encoded = UTF8.encode(isControl(scalar) ? "\u{FFFD}" : scalar)
      guard let encoded, bytes.count - start + encoded.count <= maximumMessage else { return }
      bytes.append(contentsOf: encoded)
    }
  }
}
