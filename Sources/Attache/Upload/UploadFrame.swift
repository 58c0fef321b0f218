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
  /// The longest message, in bytes.
  static let maximumBytes = 1 << 10
  /// The longest text in a message, in bytes.
  private static let longestText = 900

  static func bytes(of request: UploadRequest) -> [UInt8] {
    var writer = ByteWriter(capacity: 80)
    switch request {
    case .probe(let number, let deadline):
      writer.append(1 as UInt8)
      writer.append(number)
      writer.append(deadline.nanoseconds)
    case .upload(let number, let file, let deadline):
      writer.append(2 as UInt8)
      writer.append(number)
      writer.append(deadline.nanoseconds)
      writer.append(file.name.digest)
      writer.append(file.type.indexCode)
      writer.append(Int64(file.size))
    case .extend(let number, let deadline):
      writer.append(3 as UInt8)
      writer.append(number)
      writer.append(deadline.nanoseconds)
    }
    return writer.bytes
  }

  static func request(_ bytes: ArraySlice<UInt8>) -> UploadRequest? {
    var reader = ByteReader(bytes)
    guard let kind = reader.read(UInt8.self), let number = reader.read(UInt64.self), let nanoseconds = reader.read(Int64.self)
    else { return nil }
    let deadline = MonotonicInstant(nanoseconds: nanoseconds)
    switch kind {
    case 1 where reader.rest.isEmpty: return .probe(number, deadline: deadline)
    case 2:
      guard let digest = reader.read(HashWords.self), let code = reader.read(UInt8.self), let type = MediaType(indexCode: code),
        let size = reader.read(Int64.self), size >= 0, reader.rest.isEmpty
      else { return nil }
      return .upload(number, file: StoredFile(StoreName(words: digest, type: type), size: Int(size)), deadline: deadline)
    case 3 where reader.rest.isEmpty: return .extend(number, deadline: deadline)
    default: return nil
    }
  }

  static func bytes(of reply: UploadReply) -> [UInt8] {
    var writer = ByteWriter(capacity: 80)
    switch reply {
    case .published(let number, let youth):
      writer.append(1 as UInt8)
      writer.append(number)
      writer.append(Int64(youth / .milliseconds(1)))
    case .failed(let number, let isRefused, let explanation):
      writer.append(isRefused ? 3 : 2 as UInt8)
      writer.append(number)
      writer.append(plain(explanation.utf8))
    case .notice(let text):
      writer.append(4 as UInt8)
      writer.append(0 as UInt64)
      writer.append(plain(text.utf8))
    }
    return writer.bytes
  }

  /// Parses a reply. The uploader talks to strangers, so each field is checked.
  static func reply(_ bytes: ArraySlice<UInt8>) -> UploadReply? {
    var reader = ByteReader(bytes)
    guard let kind = reader.read(UInt8.self), let number = reader.read(UInt64.self) else { return nil }
    switch kind {
    case 1:
      guard let milliseconds = reader.read(Int64.self), 0...Self.longestYouth ~= milliseconds, reader.rest.isEmpty else { return nil }
      return .published(number, youth: .milliseconds(milliseconds))
    case 2, 3: return .failed(number, isRefused: kind == 3, explanation: String(decoding: plain(reader.rest), as: UTF8.self))
    case 4: return .notice(String(decoding: plain(reader.rest), as: UTF8.self))
    default: return nil
    }
  }

  /// Returns the text with question marks in place of everything but printable ASCII.
  private static func plain(_ text: some Collection<UInt8>) -> [UInt8] {
    text.prefix(longestText).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
  }

  /// A hundred years, in milliseconds.
  private static let longestYouth: Int64 = 100 * 366 * 86_400_000
}
