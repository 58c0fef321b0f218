internal import Attache

/// Compares a line whose payload is in the envelope of a push service, or in a string, with its
/// output line.
struct EnvelopedLine {
  let original: [UInt8]
  let place: OutputPlace

  /// Returns whether a line is the original with attache's member in one or several objects. All
  /// members must have the same bytes, unless the objects are notifications of one request. Nothing
  /// else can change, except the texts of the alert, or URLs and type hints, when the flags allow
  /// it.
  func isSpliced(_ line: ArraySlice<UInt8>) -> Bool {
    guard let before = try? JSONReader.read(original[...]).compared(by: place), let after = try? JSONReader.read(line).compared(by: place)
    else { return false }
    var gained: [JSONValue] = []
    guard GainedAttachment.read(line, at: place)?.isEmpty == false else { return false }
    guard place.addsMember else { return after == before }
    guard after.gains(Array(place.key.utf8), over: before, &gained), !gained.isEmpty else { return false }
    let isRequest = place.notifications(in: before) != nil
    guard isRequest || Set(gained).count == 1 else { return false }
    if place.appliesOverrides || place.publicURL != nil { return true }
    return isRequest ? hasInsertions(line, gained.count) : isOnlyLonger(line, by: gained.count)
  }

  /// Returns whether the bytes are the original's with this number of insertions, each before the
  /// closing brace of an object.
  private func hasInsertions(_ line: ArraySlice<UInt8>, _ insertions: Int) -> Bool {
    var (rest, left) = (line, insertions)
    for byte in original {
      if byte == UInt8(ascii: "}"), rest.first != byte {
        rest = rest.dropFirst(Self.lengthToClosingBrace(rest))
        left -= 1
      }
      guard rest.popFirst() == byte else { return false }
    }
    return rest.isEmpty && left == 0
  }

  /// Returns the number of bytes before the brace that closes the current object.
  private static func lengthToClosingBrace(_ bytes: ArraySlice<UInt8>) -> Int {
    let text = bytes.span
    var index = 0
    while index < text.count, text[index] != UInt8(ascii: "}") { index = max(index + 1, text.skipValue(from: index)) }
    return index
  }

  /// Returns whether the bytes are the original's with this number of insertions of equal length.
  private func isOnlyLonger(_ line: ArraySlice<UInt8>, by insertions: Int) -> Bool {
    let (growth, line) = (line.count - original.count, Array(line))
    guard growth > 0, growth % insertions == 0 else { return false }
    var (index, left) = (0, insertions)
    for (number, byte) in line.enumerated() where number >= index {
      let place = number - (insertions - left) * (growth / insertions)
      if place < original.count, original[place] == byte { continue }
      guard left > 0 else { return false }
      left -= 1
      index = number + growth / insertions
    }
    return left == 0
  }
}

extension JSONValue {
  /// Returns the value in the form used to compare lines: strings that contain objects or arrays are
  /// parsed, and the alert's texts, URLs and type hints are removed where they can change.
  func compared(by place: OutputPlace) -> JSONValue {
    let value = place.appliesOverrides ? unfolded.withoutAlertTexts : unfolded
    return place.publicURL == nil ? value : value.withoutMedia
  }

  /// The value with each string that contains a JSON object or array replaced by it.
  var unfolded: JSONValue {
    changed { value in
      guard case .string(let bytes) = value, [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(bytes.first),
        let inner = try? JSONReader.read(bytes[...])
      else { return value }
      return inner
    }
  }

  /// The value with each URL and each type hint replaced by the empty string.
  private var withoutMedia: JSONValue {
    changed { value in
      guard case .string(let bytes) = value else { return value }
      let text = UntrustedText(decoding: bytes).asURL
      let isURL = text.starts(with: "http://") || text.starts(with: "https://")
      return isURL || HintedType(word: UntrustedText(decoding: bytes)) != nil ? .string([]) : value
    }
  }

  /// The value without the texts of all alerts in it.
  private var withoutAlertTexts: JSONValue {
    changed { value in
      guard case .object(var object) = value else { return value }
      switch object.members[Array("alert".utf8)] {
      case .string?: object.members[Array("alert".utf8)] = nil
      case .object(var alert)?:
        for name in ["title", "subtitle", "body"] { alert.members[Array(name.utf8)] = nil }
        object.members[Array("alert".utf8)] = .object(alert)
      default: break
      }
      return .object(object)
    }
  }

  /// Returns the value with a change made to it, and then to all values in the result.
  private func changed(_ change: (JSONValue) -> JSONValue) -> JSONValue {
    switch change(self) {
    case .array(let elements): return .array(elements.map { $0.changed(change) })
    case .object(var object):
      object.members = object.members.mapValues { $0.changed(change) }
      return .object(object)
    case let leaf: return leaf
    }
  }

  /// Returns whether this equals `original` except for added members with this name. They can be in
  /// objects that had none, or in an added member `data` that contains only them.
  fileprivate func gains(_ name: [UInt8], over original: JSONValue, _ gained: inout [JSONValue]) -> Bool {
    switch (self, original) {
    case (.object(let mine), .object(let theirs)):
      for (key, value) in mine.members {
        if let before = theirs.members[key] {
          guard value.gains(name, over: before, &gained) else { return false }
        } else if key == name {
          gained.append(value)
        } else if key == Array("data".utf8), case .object(let data) = value, let only = data.members[name], data.members.count == 1 {
          gained.append(only)
        } else if key != Array("alert".utf8) || value != .object(JSONObject(members: [:], closingBrace: 0)) {
          return false
        }
      }
      return theirs.members.keys.allSatisfy { mine.members[$0] != nil }
    case (.array(let mine), .array(let theirs)):
      guard mine.count == theirs.count else { return false }
      return zip(mine, theirs).reduce(true) { $0 && $1.0.gains(name, over: $1.1, &gained) }
    default: return self == original
    }
  }

  /// Returns the outermost object that has a member with this name.
  func holder(of name: [UInt8]) -> JSONObject? {
    switch self {
    case .object(let object):
      if object.members[name] != nil { return object }
      return object.members.sorted { $0.key.lexicographicallyPrecedes($1.key) }.lazy.compactMap { $0.value.holder(of: name) }.first
    case .array(let elements): return elements.lazy.compactMap { $0.holder(of: name) }.first
    case .null, .boolean, .number, .string: return nil
    }
  }
}
