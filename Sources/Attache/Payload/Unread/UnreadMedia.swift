/// A string of a line that looks like a media URL, at a place that nothing reads.
package struct UnreadMedia: Hashable, Sendable {
  /// Why nothing reads it.
  enum Cause: Hashable, Sendable {
    /// No dialect and no `--media-key` names its place.
    case unknownPlace
    /// The URL has its media in itself (`data:`), so that no flag helps.
    case holdsData
    /// It is in a string that holds JSON.
    case inString
    /// The text is meant as a URL and is none; with what is wrong.
    case slip(String)
    /// The text is the path of a file without a host.
    case relative
    /// The text is a placeholder of a template.
    case placeholder
    /// It is not in the payload that the envelope's service sends to Apple's devices.
    case outside(Envelope.Form)
  }

  /// The place in the payload; in the line if it is not in the payload.
  package let place: JSONPointer
  let cause: Cause

  /// Whether the place is in the line and not in the payload.
  package var isOutside: Bool { if case .outside = cause { true } else { false } }

  /// What is wrong, and what to do: one printable sentence without a full stop.
  package var text: String {
    let shown = PrintableText.of(place.description, maximumLength: Self.shownLength)
    switch cause {
    case .holdsData: return "the data: URL at \(shown) is not read; serve the media over https, and write their URL"
    case .inString:
      return "the URL in the string at \(shown) is not read, since the string holds JSON; write an object, or the URL beside it"
    case .slip(let fault): return "the text at \(shown) is no URL: \(fault)"
    case .relative: return "the text at \(shown) is a path without a host; write the whole URL, with https://"
    case .placeholder: return "the text at \(shown) is a placeholder that nothing has filled; write the URL"
    case .outside(let form): return "the URL at \(shown) reaches no device of Apple's; write it \(form.placeOfMedia)"
    case .unknownPlace:
      let advice = argument.map { "--media-key \($0) would" } ?? "--media-key with that place would"
      return "nothing reads the URL at \(shown); \(advice)"
    }
  }

  private static let shownLength = 400

  /// The value of `--media-key` that reads the place, as a word of a shell; nil if it cannot be typed.
  private var argument: String? {
    let isDotted =
      place.parts.allSatisfy { !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: ".")) } && place.parts.first?.utf8.first != UInt8(ascii: "/")
    let text = isDotted ? place.parts.joined(separator: ".") : place.description
    let isSafe = text.unicodeScalars.allSatisfy { PrintableText.isPrintable($0) && $0 != "'" }
    guard isSafe, text.utf8.count <= Self.shownLength else { return nil }
    let isPlain = text.utf8.allSatisfy { $0.isLetterASCII || $0.decimalDigit != nil || "_-./:@%+=,".utf8.contains($0) }
    return isPlain ? text : "'\(text)'"
  }
}

extension Envelope.Form {
  /// Where a sender writes a picture's URL, so that the service sends it to Apple's devices.
  fileprivate var placeOfMedia: String {
    switch self {
    case .fcm, .fcmLegacy: "into notification.image or apns.fcm_options.image"
    case .expo: "into richContent.image"
    case .oneSignal: "into ios_attachments"
    case .gorush: "into data, under a key that attache dialects lists"
    case .sns, .path: "into the payload"
    }
  }
}

/// Searches payloads for strings that look like media URLs. It is called for candidates in which no
/// media to attach was found.
///
/// The search reads each value once, and has limits that only a payload reaches that was made for it:
/// 4,096 values of each document, 128 strings that are looked up, and 32 steps to a string. Only one thread at a time may use it.
package final class UnreadMediaSearch {
  private var walk = Walk()

  package init() {}

  /// Returns the first such string of a payload; nil if there is none.
  ///
  /// - Parameter pictures: what was read, such as the sender's picture, but is not attached.
  func first(in payload: JSONElement, besides pictures: [MediaReference]) -> UnreadMedia? {
    var first: UnreadMedia?
    forEach(in: payload, besides: pictures) { media, _ in
      first = media
      return false
    }
    return first
  }

  /// Calls `body` with each such string of a payload and its value, in the order of the payload, until
  /// it returns false.
  package func forEach(in payload: JSONElement, besides pictures: [MediaReference], _ body: (UnreadMedia, JSONElement) -> Bool) {
    walk.begin(outside: nil)
    _ = walk.visit(payload) { media, value in pictures.contains { $0.url == value.text } || body(media, value) }
  }

  /// Calls `body` with each such string of the message around a payload.
  ///
  /// - Parameter shown: the texts of the payload, which are no media wherever the message has them.
  package func forEach(
    outside message: LineOpener.Message, besides pictures: [MediaReference], _ shown: NotificationContent,
    _ body: (UnreadMedia, JSONElement) -> Bool
  ) {
    walk.begin(outside: message)
    let texts = [shown.title, shown.subtitle, shown.body].map { UntrustedText($0) }
    _ = walk.visit(message.object) { media, value in
      guard let text = value.text, !texts.contains(text), !pictures.contains(where: { $0.url == text }) else { return true }
      return body(media, value)
    }
  }
}

/// A walk through the strings of a payload, or of the message around it. It is a value, so that no
/// access is checked at run time.
@safe
private struct Walk {
  /// The maximum number of values of a document that are read.
  private static let maximumValues = 4_096
  /// The longest member name on a path, in bytes.
  private static let longestName = 128
  /// The maximum number of strings that are looked up: each look reads the objects around the string,
  /// or the JSON in it.
  private static let maximumLooks = 128

  /// The message that is read; nil for a payload.
  private var message: LineOpener.Message?
  /// The strings of the payload, of JSON in one of them, and of JSON in the strings of that, as SNS's
  /// requests have it.
  private let strings = [JSONStrings(), JSONStrings(), JSONStrings()]
  private let parsers = [JSONParser(), JSONParser()]
  /// The way to the current string.
  private var steps: [JSONStrings.Step] = []
  /// The number of steps to the outermost string whose JSON is read; nil outside one.
  private var stepsToString: Int?
  private var looks = 0
  /// The path of the current value as bytes, and that of the last URL in a payload that was found: most
  /// lines of a producer are alike.
  private var path: [UInt8] = []
  private var last: (path: [UInt8], place: JSONPointer)?

  mutating func begin(outside message: LineOpener.Message?) {
    looks = 0
    self.message = message
  }

  /// - Parameter level: the number of strings around the document.
  /// - Returns: whether to go on.
  mutating func visit(_ document: JSONElement, inStrings level: Int = 0, _ body: (UnreadMedia, JSONElement) -> Bool) -> Bool {
    let (strings, outer) = (strings[level], steps.count)
    strings.begin(document, maximumDepth: JSONStrings.maximumDepth - outer, maximumValues: Self.maximumValues)
    while let text = unsafe strings.next() {
      // Most strings end here.
      guard unsafe MediaGuess.mayLookLikeMedia(text) else { continue }
      strings.appendSteps(to: &steps)
      defer { steps.removeSubrange(outer...) }
      let kind = unsafe MediaGuess.kind(text, namesFromInside, besidesTaps: message != nil)
      guard unsafe kind != nil || level < (message?.form == .sns ? 2 : 1) && text.mayHoldURLs else { continue }
      looks += 1
      guard looks <= Self.maximumLooks else { return false }
      if let kind {
        let value = steps[steps.count - 1].child
        if let media = media(value, kind), !body(media, value) { return false }
      } else if let inner = unsafe parsers[level].parse(copying: text) {
        if level == 0 { stepsToString = steps.count }
        defer { if level == 0 { stepsToString = nil } }
        if !visit(inner, inStrings: level + 1, body) { return false }
      }
    }
    return true
  }

  /// The name of the member with the current value, and that of the member around it.
  private var namesFromInside: MediaGuess.Names {
    var names = unsafe MediaGuess.Names()
    for index in steps.indices.reversed() {
      guard let name = unsafe steps[index].name else { continue }
      guard unsafe names.own != nil else {
        unsafe names.own = name
        continue
      }
      unsafe names.outer = name
      break
    }
    return unsafe names
  }

  /// Returns the current value; nil if it is one of Apple's texts, if it counts for nobody, or if its
  /// path is too long to be typed.
  private mutating func media(_ value: JSONElement, _ kind: MediaGuess.Kind) -> UnreadMedia? {
    guard !steps.contains(where: \.isShadowed), let place = place() else { return nil }
    if let message { return UnreadMedia(place: place, cause: .outside(message.form)) }
    guard stepsToString == nil else { return UnreadMedia(place: place, cause: .inString) }
    let cause: UnreadMedia.Cause =
      switch kind {
      case .url: .unknownPlace
      case .data: .holdsData
      case .slip: Self.slip(in: value)
      case .relative: .relative
      case .placeholder: .placeholder
      }
    return UnreadMedia(place: place, cause: cause)
  }

  private static func slip(in value: JSONElement) -> UnreadMedia.Cause {
    let bytes = Array((value.text ?? "").utf8)
    return .slip(URLMistake(bytes)?.refusal(of: bytes[...]).message ?? "it has no scheme")
  }

  /// Returns the place of the current value; nil if Apple defines it, or if it is too long.
  private mutating func place() -> JSONPointer? {
    path.removeAll(keepingCapacity: true)
    let steps = steps.prefix(stepsToString ?? steps.count)
    for step in steps {
      if let name = unsafe step.name {
        guard name.count <= Self.longestName else { return nil }
        unsafe path.append(contentsOf: name)
        // No text contains these bytes.
        path.append(0xFF)
      } else {
        path.append(0xFE)
        path.append(UInt8(truncatingIfNeeded: step.index))
        path.append(UInt8(truncatingIfNeeded: step.index >> 8))
      }
    }
    if message == nil, let last, last.path == path { return last.place }
    let tokens = steps.map { step in
      unsafe step.name.map { JSONPointer.Token(unsafe String(decoding: $0, as: UTF8.self)) } ?? JSONPointer.Token(index: step.index)
    }
    let names = tokens.map(\.text)
    // The payload may be an object of the message.
    let start = message.flatMap { _ in names.firstIndex(of: "aps") } ?? 0
    guard !ApsKeys.define(Array(names[start...])) else { return nil }
    if let message { return JSONPointer(tokens: message.tokens + tokens) }
    let place = JSONPointer(tokens: tokens)
    last = (path, place)
    return place
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a text may be JSON with a URL in it.
  fileprivate var mayHoldURLs: Bool {
    let first = unsafe first { !$0.isJSONSpace }
    guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return false }
    return unsafe distance(behind: UInt8(ascii: "/")) != nil
  }
}
