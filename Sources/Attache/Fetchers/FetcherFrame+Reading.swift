internal import CFetcher

extension FetcherFrame {
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
