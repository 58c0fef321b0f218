internal import CFetcher

extension FetcherFrame {
  /// Parses a frame without its length.
  static func request(_ bytes: ArraySlice<UInt8>) throws(FrameStream.Fault) -> FetcherRequest {
    var reader = ByteReader(bytes)
    let request: FetcherRequest
    switch try reader.next(UInt8.self) {
    case 1:
      let (number, place, payload) = (try reader.next(UInt64.self), try reader.next(UInt32.self), try reader.next(UInt64.self))
      let (deadline, isRefused) = (MonotonicInstant(nanoseconds: try reader.next(Int64.self)), try reader.flag())
      var fields: [String] = []
      for _ in 0..<(try reader.next(UInt8.self)) { fields.append(try reader.text(of: Int(try reader.next(UInt16.self)))) }
      request = .fetch(
        number, place: place, payload: payload, deadline: deadline, isRefused: isRefused, fields: fields,
        url: try reader.text(atMost: URLGate.maximumBytes))
    case 2:
      request = .extend(
        try reader.next(UInt64.self), payload: try reader.next(UInt64.self),
        deadline: MonotonicInstant(nanoseconds: try reader.next(Int64.self)))
    case 3: request = .cancel(try reader.next(UInt64.self))
    case 4: request = .pulse(try reader.next(UInt64.self))
    case 5: request = .close
    default: throw .invalid
    }
    try reader.end()
    return request
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
