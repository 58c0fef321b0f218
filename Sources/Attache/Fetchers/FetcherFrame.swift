internal import CFetcher

/// A request of a host to a fetcher process.
enum FetcherRequest: Equatable {
  /// Fetch a URL that has passed the host's gate.
  ///
  /// - Parameters:
  ///   - place: where the fetcher reports its progress.
  ///   - payload: the number of the payload that waits for it.
  ///   - isRefused: whether the circuit breaker refuses the request: only a fresh file of the cache
  ///     may be handed out.
  ///   - fields: the operator's header lines for the origin of the URL.
  case fetch(UInt64, place: UInt32, payload: UInt64, deadline: MonotonicInstant, isRefused: Bool, fields: [String], url: String)
  /// Extend the deadline: a payload with a later one has joined.
  case extend(UInt64, payload: UInt64, deadline: MonotonicInstant)
  /// Cancel the fetch: no waiter is left.
  case cancel(UInt64)
  /// Reply, which shows that the loop is running.
  case pulse(UInt64)
  /// Write the pending rows of the cache.
  case close
}

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

  /// Parses a frame without its length.
  static func request(_ bytes: ArraySlice<UInt8>) throws(Invalid) -> FetcherRequest {
    var reader = ByteReader(bytes)
    let request: FetcherRequest
    switch try reader.next(UInt8.self) {
    case 1:
      let (number, place, payload) = (try reader.next(UInt64.self), try reader.next(UInt32.self), try reader.next(UInt64.self))
      let (deadline, isRefused) = (MonotonicInstant(nanoseconds: try reader.next(Int64.self)), try reader.next(UInt8.self))
      guard isRefused < 2 else { throw Invalid() }
      var fields: [String] = []
      for _ in 0..<(try reader.next(UInt8.self)) { fields.append(try reader.text(of: Int(try reader.next(UInt16.self)))) }
      return .fetch(
        number, place: place, payload: payload, deadline: deadline, isRefused: isRefused == 1, fields: fields,
        url: try reader.text(atMost: URLGate.maximumBytes))
    case 2:
      request = .extend(
        try reader.next(UInt64.self), payload: try reader.next(UInt64.self),
        deadline: MonotonicInstant(nanoseconds: try reader.next(Int64.self)))
    case 3: request = .cancel(try reader.next(UInt64.self))
    case 4: request = .pulse(try reader.next(UInt64.self))
    case 5: request = .close
    default: throw Invalid()
    }
    try reader.end()
    return request
  }

  /// Parses a frame without its length.
  static func reply(_ bytes: ArraySlice<UInt8>) throws(Invalid) -> FetcherReply {
    var reader = ByteReader(bytes)
    switch try reader.next(UInt8.self) {
    case 1: return .fetched(try result(&reader))
    case 2:
      let number = try reader.next(UInt64.self)
      try reader.end()
      return .alive(number)
    case 3: return .closed(warning: try reader.message())
    case 4: return .failed(try reader.message())
    case 5:
      let (number, health) = (try reader.next(UInt64.self), try reader.health())
      try reader.end()
      return .left(number, health)
    case 6:
      let missing = FetcherBounds.Missing(rawValue: try reader.next(UInt8.self))
      try reader.end()
      guard FetcherBounds.Missing.all.isSuperset(of: missing) else { throw Invalid() }
      return .ready(missing)
    case 7:
      let (number, milliseconds) = (try reader.next(UInt64.self), try reader.next(UInt32.self))
      try reader.end()
      return .converts(number, milliseconds: milliseconds)
    case 8:
      let milliseconds = try reader.next(UInt32.self)
      try reader.end()
      return .load(milliseconds: milliseconds)
    case 9: return .survived(try reader.message())
    default: throw Invalid()
    }
  }

  private static func result(_ reader: inout ByteReader) throws(Invalid) -> FetcherResult {
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
      let isPrivate = try reader.next(UInt8.self)
      guard isPrivate < 2 else { throw Invalid() }
      file.isPrivate = isPrivate == 1
      file.conversion = try conversion(&reader, size: size)
      try reader.end()
      end = .stored(file, keptUntil: kept == .min ? nil : MonotonicInstant(nanoseconds: kept))
    } else {
      guard code == 0 else { throw Invalid() }
      let (reason, isOfMachine) = (Int(try reader.next(UInt16.self)), try reader.next(UInt8.self))
      guard reason < Reason.allCases.count, Reason.allCases[reason].mayEndFetch, isOfMachine < 2 else { throw Invalid() }
      var failure = FetchFailure(reason: Reason.allCases[reason], message: try reader.message())
      failure.isOfMachine = isOfMachine == 1
      end = .failed(failure)
    }
    return FetcherResult(fetch: raw.fetch, progress: FetchProgress(raw), health: health, end: end, added: added)
  }

  private static func conversion(_ reader: inout ByteReader, size: Int) throws(Invalid) -> PictureConversion? {
    let (code, width, height) = (try reader.next(UInt8.self), try reader.count(), try reader.count())
    guard code != 0 else { return nil }
    guard let conversion = PictureConversion(code: code, size: size, width: width, height: height) else { throw Invalid() }
    return conversion
  }

  fileprivate static func isControl(_ scalar: Unicode.Scalar) -> Bool {
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

extension ByteReader {
  fileprivate mutating func next<Value: BitwiseCopyable>(_ type: Value.Type) throws(FetcherFrame.Invalid) -> Value {
    guard let value = read(type) else { throw FetcherFrame.Invalid() }
    return value
  }

  /// Reads what a fetch has shown about its origin.
  fileprivate mutating func health() throws(FetcherFrame.Invalid) -> OriginHealth {
    let (code, since) = (try next(UInt8.self), try next(Int64.self))
    let signal = OriginHealthSignal(rawValue: code)
    guard code == 0 || signal != nil else { throw FetcherFrame.Invalid() }
    return OriginHealth(signal, since: since == .min ? nil : MonotonicInstant(nanoseconds: since))
  }

  /// Reads a number of bytes. It is small enough for the sums of a run.
  fileprivate mutating func count() throws(FetcherFrame.Invalid) -> Int {
    let number = try next(Int64.self)
    guard 0...FetchProgress.maximumBytes ~= number else { throw FetcherFrame.Invalid() }
    return Int(number)
  }

  /// Reads the remaining bytes as UTF-8.
  fileprivate func text(atMost maximum: Int) throws(FetcherFrame.Invalid) -> String {
    guard rest.count <= maximum, let text = String(validating: rest, as: UTF8.self) else { throw FetcherFrame.Invalid() }
    return text
  }

  /// Reads this many bytes as UTF-8.
  fileprivate mutating func text(of count: Int) throws(FetcherFrame.Invalid) -> String {
    guard let bytes = read(count: count), let text = String(validating: bytes, as: UTF8.self) else { throw FetcherFrame.Invalid() }
    return text
  }

  /// Reads the remaining bytes as a message for the log.
  fileprivate func message() throws(FetcherFrame.Invalid) -> String {
    let text = try text(atMost: FetcherFrame.maximumMessage)
    guard !text.unicodeScalars.contains(where: FetcherFrame.isControl) else { throw FetcherFrame.Invalid() }
    // Marks that change the direction of writing are shown as escapes.
    return PrintableText.of(text, maximumLength: FetcherFrame.maximumMessage)
  }

  fileprivate func end() throws(FetcherFrame.Invalid) {
    guard rest.isEmpty else { throw FetcherFrame.Invalid() }
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
