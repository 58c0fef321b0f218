/// The position of a payload that is only a part of its line, and the place for the result.
package struct PayloadPlace: Hashable, Sendable {
  /// A JSON string that holds the next text.
  struct Level: Hashable, Sendable {
    let text: JSONText
    /// The range of the string without its quotes.
    let string: Range<Int>
    /// Another string in the same text that has the same content and receives the same changes.
    var twin: Range<Int>?
  }

  /// The offset of the outermost text in the line.
  var start = 0
  /// The strings from the line inwards; none if the object is in the line itself.
  var levels: [Level] = []
  /// The innermost text, if it is in a string.
  var text: JSONText?
  /// The range of the object that receives the member, in the innermost text.
  var object: Range<Int>
  var isEmptyObject = false
  /// The name of a member to create in that object; the new member then goes inside it.
  var wrapper: String?
  /// The JSON of the payload as the service sends it to APNs; nil if it is the object.
  var built: [UInt8]?
  /// The values of ``built`` that are copied from the innermost text; none if it is the object.
  var copies: [JSONCopy] = []
  /// The size in bytes of the payload as APNs receives it; nil if it is the size of the object.
  var payloadCount: Int?
  /// The pictures that the message around the payload names, wherever a device reads them.
  package var pictures: [MessagePicture] = []
  /// Whether the object may receive the member; false if it is a message without a payload for
  /// APNs.
  var takesMember = true
  /// Whether the service sends the payload to PushKit, which accepts larger payloads.
  package var leadsToVoIP = false
  /// The place of the alert's texts in the innermost text; nil if the texts cannot be replaced.
  var alert: AlertPlace?

  /// The place in the line where the member is inserted.
  var splice: Splice {
    let outer = outward([object]) { $0.string }[0]
    var splice = Splice(payload: start + outer.lowerBound..<start + outer.upperBound, isEmptyObject: isEmptyObject && wrapper == nil)
    let brace = object.upperBound - 1
    splice.offset = start + outward([brace..<brace]) { $0.string }[0].lowerBound
    if hasTwin { splice.twin = start + outward([brace..<brace]) { $0.twin ?? $0.string }[0].lowerBound }
    splice.payloadCount = payloadCount ?? object.count
    splice.depth = levels.count
    splice.wrapper = wrapper
    return splice
  }

  /// Converts edits of the innermost text to edits of the line.
  func lineEdits(_ edits: [LineEdit]) -> [LineEdit] {
    if levels.isEmpty, start == 0 { return edits }
    let bytes = edits.map { edit in levels.reduce(edit.bytes) { bytes, _ in JSONString.escaped(bytes) } }
    let ranges = edits.map(\.range)
    let outer = [outward(ranges) { $0.string }] + (hasTwin ? [outward(ranges) { $0.twin ?? $0.string }] : [])
    return outer.flatMap { zip($0, bytes).map { range, bytes in LineEdit(start + range.lowerBound..<start + range.upperBound, bytes) } }
  }

  private var hasTwin: Bool { levels.contains { $0.twin != nil } }

  /// Converts ranges of the innermost text to ranges of the outermost.
  private func outward(_ ranges: [Range<Int>], through string: (Level) -> Range<Int>) -> [Range<Int>] {
    levels.reversed().reduce(ranges) { ranges, level in
      let offsets = ranges.flatMap { [$0.lowerBound, $0.upperBound] }
      let places = JSONString.places(of: offsets, in: level.text.bytes.span, string(level))
      return ranges.indices.map { places[2 * $0]..<places[2 * $0 + 1] }
    }
  }
}

/// A picture that a message for several kinds of devices names.
package struct MessagePicture: Hashable, Sendable {
  /// The range of the URL's string, in the innermost text.
  let value: Range<Int>
  package let url: UntrustedText
  /// The JSON pointer of the string in the line.
  package let path: UntrustedText

  /// A reference to the picture for devices that are not Apple's.
  package var reference: MediaReference {
    var reference = MediaReference(url: url)
    (reference.isForOthers, reference.path) = (true, path)
    return reference
  }
}

/// The place of an alert's texts.
struct AlertPlace: Hashable, Sendable {
  /// The range of the object that holds the alert.
  var holder: Range<Int>
  /// The alert's name in that object; nil if the texts are members of the object itself.
  var name: String? = "alert"
  /// Texts that are shown if the alert does not define them.
  var given: [MemberChange] = []
  /// Whether the holder is the payload's `aps`. If not, a service builds the payload from members
  /// of its own, and only texts can be replaced.
  var isAps = false
}

extension AlertPlace {
  /// Creates the place in a payload's `aps`; nil if it has none.
  init?(apsOf payload: Range<Int>, in text: JSONText, given: [MemberChange] = []) {
    guard let aps = text.object("aps", of: payload) else { return nil }
    self.init(holder: aps, given: given, isAps: true)
  }
}
