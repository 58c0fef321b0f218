internal import CFetcher

/// A reply of a fetcher process to its host.
enum FetcherReply: Equatable {
  /// The loop is running. The value contains the limits that could not be applied to the process.
  case ready(FetcherBounds.Missing)
  case fetched(FetcherResult)
  /// A cancelled fetch has ended.
  ///
  /// - Parameter health: what it has shown about the origin.
  case left(UInt64, OriginHealth)
  /// The reply to a pulse.
  case alive(UInt64)
  /// A fetch needs a conversion, which is expected to keep a converter busy for so many
  /// milliseconds.
  case converts(UInt64, milliseconds: UInt32)
  /// The converters are busy for so many milliseconds with what comes before a payload that begins now.
  case load(milliseconds: UInt32)
  /// The cache is closed.
  ///
  /// - Parameter warning: a warning for the user about the cache; empty for none.
  case closed(warning: String)
  /// The fetcher cannot start.
  case failed(String)
  /// A failure that the fetcher survives (``SurvivedFailures``).
  case survived(String)
}

/// The result of a fetch.
struct FetcherResult: Equatable {
  enum End: Equatable {
    /// - Parameter keptUntil: when the file stops being valid for the URL; nil when it must not be
    ///   reused.
    case stored(StoredFile, keptUntil: MonotonicInstant?)
    case failed(FetchFailure)
  }

  /// The number of the request.
  var fetch: UInt64
  var progress: FetchProgress
  /// What the fetch has shown about the origin.
  var health = OriginHealth()
  var end: End
  /// The number of bytes that the fetcher has added to the store since its last report.
  var added: Int64
}

extension FetcherFrame {
  /// The longest message, in bytes.
  static let maximumMessage = 1 << 10

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

  /// Parses a frame without its length.
  static func reply(_ bytes: ArraySlice<UInt8>) throws(FrameStream.Fault) -> FetcherReply {
    var reader = ByteReader(bytes)
    let reply: FetcherReply
    switch try reader.next(UInt8.self) {
    case 1: reply = .fetched(try result(&reader))
    case 2: reply = .alive(try reader.next(UInt64.self))
    case 3: reply = .closed(warning: try reader.message())
    case 4: reply = .failed(try reader.message())
    case 5: reply = .left(try reader.next(UInt64.self), try reader.health())
    case 6:
      let missing = FetcherBounds.Missing(rawValue: try reader.next(UInt8.self))
      guard FetcherBounds.Missing.all.isSuperset(of: missing) else { throw .invalid }
      reply = .ready(missing)
    case 7: reply = .converts(try reader.next(UInt64.self), milliseconds: try reader.next(UInt32.self))
    case 8: reply = .load(milliseconds: try reader.next(UInt32.self))
    case 9: reply = .survived(try reader.message())
    default: throw .invalid
    }
    try reader.end()
    return reply
  }

  private static func result(_ reader: inout ByteReader) throws(FrameStream.Fault) -> FetcherResult {
    let raw = try reader.next(fetcher_progress.self)
    let added = Int64(try reader.count())
    let health = try reader.health()
    let code = try reader.next(UInt8.self)
    let end: FetcherResult.End
    if let type = MediaType(code: code) {
      let digest = try reader.next(HashWords.self)
      let size = try reader.count()
      let kept = try reader.next(Int64.self)
      var file = StoredFile(StoreName(words: digest, type: type), size: size)
      file.isPrivate = try reader.flag()
      file.conversion = try conversion(&reader, size: size)
      end = .stored(file, keptUntil: kept == .min ? nil : MonotonicInstant(nanoseconds: kept))
    } else {
      guard code == 0 else { throw .invalid }
      let (reason, isOfMachine) = (Int(try reader.next(UInt16.self)), try reader.flag())
      guard reason < Reason.allCases.count, Reason.allCases[reason].mayEndFetch else { throw .invalid }
      var failure = FetchFailure(reason: Reason.allCases[reason], message: try reader.message())
      failure.isOfMachine = isOfMachine
      end = .failed(failure)
    }
    return FetcherResult(fetch: raw.fetch, progress: FetchProgress(raw), health: health, end: end, added: added)
  }

  private static func conversion(_ reader: inout ByteReader, size: Int) throws(FrameStream.Fault) -> PictureConversion? {
    let (code, width, height) = (try reader.next(UInt8.self), try reader.count(), try reader.count())
    guard code != 0 else { return nil }
    guard let conversion = PictureConversion(code: code, size: size, width: width, height: height) else { throw .invalid }
    return conversion
  }

  fileprivate static func isControl(_ scalar: Unicode.Scalar) -> Bool {
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

extension ByteReader {
  /// Reads what a fetch has shown about its origin.
  fileprivate mutating func health() throws(FrameStream.Fault) -> OriginHealth {
    let (code, since) = (try next(UInt8.self), try next(Int64.self))
    let signal = OriginHealthSignal(rawValue: code)
    guard code == 0 || signal != nil else { throw .invalid }
    return OriginHealth(signal, since: since == .min ? nil : MonotonicInstant(nanoseconds: since))
  }

  /// Reads a number of bytes. It is small enough for the sums of a run.
  fileprivate mutating func count() throws(FrameStream.Fault) -> Int {
    let number = try next(Int64.self)
    guard 0...FetchProgress.maximumBytes ~= number else { throw .invalid }
    return Int(number)
  }

  /// Reads the remaining bytes as a message for the log.
  fileprivate mutating func message() throws(FrameStream.Fault) -> String {
    let text = try text(atMost: FetcherFrame.maximumMessage)
    guard !text.unicodeScalars.contains(where: FetcherFrame.isControl) else { throw .invalid }
    // Marks that change the direction of writing are shown as escapes.
    return PrintableText.of(text, maximumLength: FetcherFrame.maximumMessage)
  }
}

extension Reason {
  /// Whether a fetch may fail so. A fetcher that names another reason is not believed.
  fileprivate var mayEndFetch: Bool {
    let families = ["policy.", "dns.", "connect.", "tls.", "http.", "size.", "type.", "convert.", "store."]
    let isOfFetch = families.contains(where: rawValue.hasPrefix)
    return isOfFetch && self != .policyAttachments || [.cancelled, .fetchCrashed, .internal].contains(self)
  }
}
