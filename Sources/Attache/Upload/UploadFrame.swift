/// A message of the host to the uploader. A descriptor comes with ``upload(_:file:deadline:)``.
enum UploadRequest: Equatable {
  /// Put, read and remove a small object.
  case probe(UInt64, deadline: MonotonicInstant)
  case upload(UInt64, file: StoredFile, deadline: MonotonicInstant)
  /// Extend the deadline: another payload needs the file.
  case extend(UInt64, deadline: MonotonicInstant)
}

/// A message of the uploader to the host.
enum UploadReply: Equatable {
  /// - Parameter youth: how long the object is young.
  case published(UInt64, youth: Duration)
  case failed(UInt64, isRefused: Bool, explanation: String)
  /// A message for the user.
  case notice(String)
}

/// The form of the messages. All numbers are in this machine's byte order, because both ends are the
/// same program.
enum UploadFrame {
  /// The longest text in a message, in bytes.
  private static let longestText = 900

  static func bytes(of request: UploadRequest) -> [UInt8] {
    var bytes: [UInt8] = []
    switch request {
    case .probe(let number, let deadline): bytes.put(kind: 1, number, deadline)
    case .upload(let number, let file, let deadline):
      bytes.put(kind: 2, number, deadline)
      bytes.put(file.name.digest)
      bytes.append(file.type.indexCode)
      bytes.put(Int64(file.size))
    case .extend(let number, let deadline): bytes.put(kind: 3, number, deadline)
    }
    return bytes
  }

  static func request(_ bytes: ArraySlice<UInt8>) throws(FrameStream.Fault) -> UploadRequest {
    var reader = ByteReader(bytes)
    let (kind, number) = (try reader.next(UInt8.self), try reader.next(UInt64.self))
    let deadline = MonotonicInstant(nanoseconds: try reader.next(Int64.self))
    let request: UploadRequest
    switch kind {
    case 1: request = .probe(number, deadline: deadline)
    case 2:
      let digest = try reader.next(HashWords.self)
      guard let type = MediaType(indexCode: try reader.next(UInt8.self)) else { throw .invalid }
      let size = try reader.next(Int64.self)
      guard size >= 0 else { throw .invalid }
      request = .upload(number, file: StoredFile(StoreName(words: digest, type: type), size: Int(size)), deadline: deadline)
    case 3: request = .extend(number, deadline: deadline)
    default: throw .invalid
    }
    try reader.end()
    return request
  }

  static func bytes(of reply: UploadReply) -> [UInt8] {
    var bytes: [UInt8] = []
    switch reply {
    case .published(let number, let youth):
      bytes.append(1)
      bytes.put(number)
      bytes.put(Int64(youth / .milliseconds(1)))
    case .failed(let number, let isRefused, let explanation):
      bytes.append(isRefused ? 3 : 2)
      bytes.put(number)
      bytes += plain(explanation.utf8)
    case .notice(let text):
      bytes.append(4)
      bytes += plain(text.utf8)
    }
    return bytes
  }

  /// Parses a reply. The uploader talks to strangers, so each field is checked.
  static func reply(_ bytes: ArraySlice<UInt8>) throws(FrameStream.Fault) -> UploadReply {
    var reader = ByteReader(bytes)
    let kind = try reader.next(UInt8.self)
    if kind == 4 { return .notice(String(decoding: plain(reader.rest), as: UTF8.self)) }
    let number = try reader.next(UInt64.self)
    switch kind {
    case 1:
      let milliseconds = try reader.next(Int64.self)
      guard 0...Self.longestYouth ~= milliseconds else { throw .invalid }
      try reader.end()
      return .published(number, youth: .milliseconds(milliseconds))
    case 2, 3: return .failed(number, isRefused: kind == 3, explanation: String(decoding: plain(reader.rest), as: UTF8.self))
    default: throw .invalid
    }
  }

  /// Returns the text with question marks in place of everything but printable ASCII.
  private static func plain(_ text: some Collection<UInt8>) -> [UInt8] {
    text.prefix(longestText).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
  }

  /// A hundred years, in milliseconds.
  private static let longestYouth: Int64 = 100 * 366 * 86_400_000
}

extension [UInt8] {
  fileprivate mutating func put(kind: UInt8, _ number: UInt64, _ deadline: MonotonicInstant) {
    append(kind)
    put(number)
    put(deadline.nanoseconds)
  }
}
