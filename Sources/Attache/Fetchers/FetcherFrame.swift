/// The contents of the frames between a host and a fetcher.
enum FetcherFrame {
  /// The longest frame: a URL of ``URLGate/maximumBytes`` with ``OriginFields/maximumBytes``, or a message, plus numbers.
  static let maximumBytes = 16 << 10
  /// The longest message, in bytes.
  static let maximumMessage = 1 << 10

  static func append(_ request: FetcherRequest, to bytes: inout [UInt8]) {
    switch request {
    case .fetch(let number, let place, let payload, let deadline, let isRefused, let fields, let url):
      bytes.append(1)
      bytes.put(number)
      bytes.put(place)
      bytes.put(payload)
      bytes.put(deadline.nanoseconds)
      bytes.append(isRefused ? 1 : 0)
      bytes.put(UInt8(fields.count))
      for field in fields {
        bytes.put(UInt16(field.utf8.count))
        bytes.append(contentsOf: field.utf8)
      }
      bytes.append(contentsOf: url.utf8)
    case .extend(let number, let payload, let deadline):
      bytes.append(2)
      bytes.put(number)
      bytes.put(payload)
      bytes.put(deadline.nanoseconds)
    case .cancel(let number):
      bytes.append(3)
      bytes.put(number)
    case .pulse(let number):
      bytes.append(4)
      bytes.put(number)
    case .close:
      bytes.append(5)
    }
  }

  static func append(_ reply: FetcherReply, to bytes: inout [UInt8]) {
    switch reply {
    case .fetched(let result):
      bytes.append(1)
      bytes.put(result: result)
    case .ready(let missing):
      bytes.append(6)
      bytes.append(missing.rawValue)
    case .left(let number, let health):
      bytes.append(5)
      bytes.put(number)
      bytes.put(health: health)
    case .converts(let number, let milliseconds):
      bytes.append(7)
      bytes.put(number)
      bytes.put(milliseconds)
    case .load(let milliseconds):
      bytes.append(8)
      bytes.put(milliseconds)
    case .alive(let number):
      bytes.append(2)
      bytes.put(number)
    case .closed(let warning):
      bytes.append(3)
      bytes.put(message: warning)
    case .failed(let message):
      bytes.append(4)
      bytes.put(message: message)
    case .survived(let message):
      bytes.append(9)
      bytes.put(message: message)
    }
  }

  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
  }
}

extension [UInt8] {
  fileprivate mutating func put(result: FetcherResult) {
    put(result.progress.raw(of: result.fetch))
    put(result.added)
    put(health: result.health)
    switch result.end {
    case .stored(let file, let keptUntil):
      append(file.type.code)
      put(file.name.digest)
      put(Int64(file.size))
      put(keptUntil?.nanoseconds ?? .min)
      append(file.isPrivate ? 1 : 0)
      append(file.conversion?.code ?? 0)
      put((Int64(file.conversion?.width ?? 0), Int64(file.conversion?.height ?? 0)))
    case .failed(let failure):
      append(0)
      put(UInt16(Reason.allCases.firstIndex(of: failure.reason) ?? 0))
      append(failure.isOfMachine ? 1 : 0)
      put(message: failure.message)
    }
  }

  fileprivate mutating func put(health: OriginHealth) {
    append(health.signal?.rawValue ?? 0)
    put(health.since?.nanoseconds ?? .min)
  }

  /// Control characters are replaced, because messages go into the log. The other end rejects them.
  fileprivate mutating func put(message: String) {
    let start = count
    for scalar in message.unicodeScalars {
      let encoded = UTF8.encode(FetcherFrame.isControl(scalar) ? "\u{FFFD}" : scalar)
      guard let encoded, count - start + encoded.count <= FetcherFrame.maximumMessage else { return }
      append(contentsOf: encoded)
    }
  }
}
