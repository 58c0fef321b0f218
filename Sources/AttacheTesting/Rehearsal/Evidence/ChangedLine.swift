internal import Attache

/// Compares a line of which a service extension changed members, as the report says, with its output
/// line.
struct ChangedLine: Sendable {
  let original: [UInt8]
  /// The JSON pointers of the changed members, within the payload.
  let changed: [String]
  let place: OutputPlace

  /// Returns whether a line is the original, byte for byte, apart from the changed members and
  /// attache's own.
  ///
  /// A payload in the envelope of a push service has its members elsewhere, so that such a line is
  /// only parsed.
  func allows(_ line: ArraySlice<UInt8>) -> Bool {
    let line = Array(line)
    guard (try? JSONReader.read(line[...])) != nil else { return false }
    guard let before = payload(of: JSONText(original)) else { return true }
    guard let after = payload(of: JSONText(line)) else { return false }
    let alertIsObject = before.alert.map(before.text.isObject) ?? true
    return before.withoutMembers(changed, place.key, alertIsObject).elementsEqual(after.withoutMembers(changed, place.key, alertIsObject))
  }

  /// Returns the payload of a line; nil if there is none with `aps`.
  private func payload(of text: JSONText) -> PayloadText? {
    var object: Range<Int>? = text.root
    for name in place.payloadPath { object = object.flatMap { text.value(name, of: $0) } }
    return object.flatMap { object in text.value("aps", of: object).map { PayloadText(text: text, payload: object, aps: $0) } }
  }
}

/// A line's text with the places of its payload and its `aps`.
private struct PayloadText {
  let text: JSONText
  let payload: Range<Int>
  let aps: Range<Int>

  var alert: Range<Int>? { text.value("alert", of: aps) }

  /// Returns the line without members.
  ///
  /// - Parameters:
  ///   - changed: the JSON pointers of members.
  ///   - key: a further member of the payload.
  ///   - alertIsObject: whether a change of the alert's texts leaves its other members. If not, the
  ///     alert is left out.
  func withoutMembers(_ changed: [String], _ key: String, _ alertIsObject: Bool) -> [UInt8] {
    var (ofPayload, ofAps, ofAlert) = ([key], [String](), [String]())
    for parts in changed.compactMap({ try? JSONPointer(pointer: $0).parts }) {
      switch parts.count {
      // A report that names all of aps or of the alert would allow any change of them.
      case 1 where parts[0] != "aps": ofPayload.append(parts[0])
      case 2 where parts[0] == "aps" && parts[1] != "alert": ofAps.append(parts[1])
      case 3 where parts[0] == "aps" && parts[1] == "alert":
        // A new text takes the place of the text that the device would look up.
        ofAlert += [parts[2], parts[2] == "body" ? "loc-key" : parts[2] + "-loc-key"]
      default: break
      }
    }
    if !ofAlert.isEmpty, !alertIsObject { (ofAps, ofAlert) = (ofAps + ["alert"], []) }
    var edits = removals(of: ofPayload, in: payload) + removals(of: ofAps, in: aps)
    if let alert { edits += removals(of: ofAlert, in: alert) }
    return LineEdit.apply(edits, to: text.bytes)
  }

  private func removals(of names: [String], in object: Range<Int>) -> [LineEdit] {
    let members = text.members(of: object)
    let removed = members.indices.filter { index in
      text.string(members[index].name).map { name in names.contains { $0.utf8.elementsEqual(name) } } ?? false
    }
    return text.removals(of: Set(removed), in: members)
  }
}
