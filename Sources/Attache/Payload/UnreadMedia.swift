/// A string of a payload that looks like a media URL, at a place that nothing reads.
package struct UnreadMedia: Hashable, Sendable {
  /// The place in the payload.
  package let place: JSONPointer
  /// Whether the URL has its media in itself (`data:`), so that no flag helps.
  let holdsData: Bool

  /// What is wrong, and what to do: one printable sentence without a full stop.
  package var text: String {
    let shown = PrintableText.of(place.description, maximumLength: Self.shownLength)
    if holdsData { return "the data: URL at \(shown) is not read; serve the media over https, and write their URL" }
    let advice = argument.map { "--media-key \($0) would" } ?? "--media-key with that place would"
    return "nothing reads the URL at \(shown); \(advice)"
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

/// Searches payloads for strings that look like media URLs. It is called for candidates in which no
/// media to attach was found.
///
/// The search reads each value once, allocates nothing unless it finds something, and has limits
/// that no payload reaches which can be sent. Only one thread at a time may use it.
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

  /// Calls `body` with each such string and its value, in the order of the payload, until it returns
  /// false.
  package func forEach(in payload: JSONElement, besides pictures: [MediaReference], _ body: (UnreadMedia, JSONElement) -> Bool) {
    walk.begin()
    _ = walk.visit(payload, in: payload) { media, value in pictures.contains { $0.url == value.text } || body(media, value) }
  }
}

/// A walk through the values of a payload. It is a value, so that no access is checked at run time.
@safe
private struct Walk {
  /// The deepest value that is read, and the maximum number of values.
  private static let (maximumDepth, maximumValues) = (32, 4_096)
  /// The longest member name on a path, in bytes.
  private static let longestName = 128
  /// The maximum number of strings that turn out to count for nobody.
  private static let maximumMisses = 8

  /// A child on the way to a value: its name, or its index in an array.
  @unsafe private enum Step {
    case name(UnsafeRawBufferPointer)
    case index(Int)
  }

  private var steps: [Step] = unsafe []
  private var values = 0
  private var misses = 0
  /// The path of the current value as bytes, and that of the last URL that was found: most lines of a
  /// producer are alike.
  private var path: [UInt8] = []
  private var last: (path: [UInt8], media: UnreadMedia)?

  init() {
    unsafe steps.reserveCapacity(Self.maximumDepth)
  }

  mutating func begin() {
    (values, misses) = (0, 0)
    unsafe steps.removeAll(keepingCapacity: true)
  }

  /// - Returns: whether to go on.
  mutating func visit(_ container: JSONElement, in payload: JSONElement, _ body: (UnreadMedia, JSONElement) -> Bool) -> Bool {
    guard unsafe steps.count < Self.maximumDepth else { return true }
    var index = -1
    return unsafe container.forEachChild { name, child in
      index += 1
      values += 1
      guard values <= Self.maximumValues else { return false }
      let mayBeURL = unsafe child.withText { unsafe MediaGuess.mayBeURL($0) }
      // Most values end here.
      guard mayBeURL ?? child.isContainer else { return true }
      unsafe steps.append(name.map { unsafe .name($0) } ?? .index(index))
      defer { unsafe steps.removeLast() }
      guard mayBeURL != nil else { return visit(child, in: payload, body) }
      guard unsafe child.withText({ unsafe MediaGuess.isMedia($0, namesFromInside) }) == true else { return true }
      guard let media = media(in: payload) else {
        misses += 1
        return misses < Self.maximumMisses
      }
      return body(media, child)
    }
  }

  /// The name of the member with the current value, and that of the member around it.
  private var namesFromInside: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) {
    var names: (UnsafeRawBufferPointer?, UnsafeRawBufferPointer?) = (nil, nil)
    for index in unsafe steps.indices.reversed() {
      guard case .name(let name) = unsafe steps[index] else { continue }
      guard unsafe names.0 != nil else {
        unsafe names.0 = unsafe name
        continue
      }
      unsafe names.1 = unsafe name
      break
    }
    return unsafe names
  }

  /// Returns the current value; nil if it is one of Apple's texts, if a later member has the same
  /// name, so that this one counts for nobody, or if its path is too long to be typed.
  private mutating func media(in payload: JSONElement) -> UnreadMedia? {
    guard let place = place() else { return nil }
    return unsafe payload.value(at: place.tokens)?.withText { text in
      guard unsafe MediaGuess.isMedia(text, namesFromInside) else { return nil }
      let media = UnreadMedia(place: place, holdsData: unsafe MediaGuess.isData(text))
      last = (path, media)
      return media
    } ?? nil
  }

  /// Returns the place of the current value; nil if Apple defines it, or if it is too long.
  private mutating func place() -> JSONPointer? {
    path.removeAll(keepingCapacity: true)
    for index in unsafe steps.indices {
      switch unsafe steps[index] {
      case .name(let name):
        guard name.count <= Self.longestName else { return nil }
        unsafe path.append(contentsOf: name)
        // No text contains these bytes.
        path.append(0xFF)
      case .index(let index):
        path.append(0xFE)
        path.append(UInt8(truncatingIfNeeded: index))
        path.append(UInt8(truncatingIfNeeded: index >> 8))
      }
    }
    if let last, last.path == path { return last.media.place }
    var tokens: [JSONPointer.Token] = []
    for index in unsafe steps.indices {
      switch unsafe steps[index] {
      case .name(let name): tokens.append(JSONPointer.Token(unsafe String(decoding: name, as: UTF8.self)))
      case .index(let index): tokens.append(JSONPointer.Token(index: index))
      }
    }
    return ApsKeys.define(tokens.map(\.text)) ? nil : JSONPointer(tokens: tokens)
  }
}
