/// A push from a line, in the form that goes to APNs.
package struct Push: Hashable, Sendable {
  /// The JSON that the device receives.
  package var payload: [UInt8]
  package var traits: PushTraits
  /// The envelope around the payload; nil for a payload alone.
  package var envelope: Envelope?
  /// The value at the token path, otherwise the envelope's device token, not validated; nil if
  /// neither exists.
  package var token: UntrustedText?
  /// The value at the channel path, not validated; nil without one. The push is then a broadcast.
  package var channel: UntrustedText?
  /// Whether the output member was removed because its attachments have `file:` URLs.
  package var hasLostMedia = false
}

/// The result of reading a line for APNs.
package enum PushReading: Hashable, Sendable {
  case push(Push)
  /// The number of notifications in the line, if more than one: a request to APNs cannot carry
  /// several.
  case several(Int)
  /// No payload. The text gives the reason in one line.
  case nothing(String)
}

/// Reads the payload to send to APNs from one line after another.
///
/// The payload is sent as written, without what is not for a device: the device token and the channel,
/// if their paths lead into the payload, and the output member (`attache`), if its attachments have `file:` URLs, which
/// no device can load.
///
/// A reader owns parsers, so only one thread at a time may use it.
package final class PushReader {
  private let opener: LineOpener
  private let aps = ApsReader()
  private let management = MemberLookup(["mdm"])
  private let outputKey: String
  private let tokenPath: JSONPointer?
  private let channelPath: JSONPointer?

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - outputKey: the name of the member that was added to an attached payload.
  ///   - payloadPath: the place of the payload in the line; nil means the whole line, or the place
  ///     that a push service's envelope defines.
  ///   - tokenPath: the place of the device token in the line. A token there takes precedence over
  ///     the envelope's.
  ///   - channelPath: the place of a broadcast channel's identifier in the line.
  package init(
    outputKey: String = "attache", payloadPath: JSONPointer? = nil, tokenPath: JSONPointer? = nil, channelPath: JSONPointer? = nil
  ) {
    opener = LineOpener(outputKey: outputKey, path: payloadPath, readsDelivery: true)
    self.outputKey = outputKey
    (self.tokenPath, self.channelPath) = (tokenPath, channelPath)
  }

  /// Checks that memory for the parsers could be allocated. Call it before the first line.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory else { throw .noMemory }
  }

  /// Reads a line.
  ///
  /// - Parameter line: the line with its line ending.
  package func read(_ line: [UInt8]) -> PushReading {
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      switch unsafe opener.open(bytes) {
      case .blank: .nothing("the line is blank")
      case .overlong: .nothing("the line is longer than 1 MiB")
      case .invalid: .nothing("the line is not a JSON object")
      case .empty: .nothing("--payload-path leads to no object")
      case .unopened: .nothing("the envelope contains no payload for Apple's devices")
      case .payload(let payload): unsafe read(line, bytes, payload)
      }
    }
  }

  private func read(_ line: [UInt8], _ bytes: UnsafeRawBufferPointer, _ element: JSONElement) -> PushReading {
    let kind = aps.read(opener.aps)
    let isEnriched = opener.isEnriched
    var traits = PushTraits(kind, isLiveActivity: aps.isLiveActivity)
    if opener.aps == nil {
      management.find(in: element)
      traits.isDeviceManagement = management[0]?.isText == true
    }
    var push = Push(payload: [], traits: traits, envelope: opener.envelope, token: opener.envelope?.token)
    let object = unsafe payload(line, bytes, &push)
    findAddress(line, object, &push)
    if isEnriched { dropMedia(of: &push) }
    var count = 1
    while opener.next() != nil { count += 1 }
    return count == 1 ? .push(push) : .several(count)
  }

  /// Sets the payload.
  ///
  /// - Returns: the payload's range in the line; nil if the payload was built from the line or is
  ///   in a string.
  private func payload(_ line: [UInt8], _ bytes: UnsafeRawBufferPointer, _ push: inout Push) -> Range<Int>? {
    if let built = opener.place?.built {
      push.payload = built
      return nil
    }
    if let place = opener.place, let text = place.text {
      push.payload = Array(text.source(place.object))
      return nil
    }
    let object = unsafe opener.splice(of: bytes).payload
    push.payload = Array(line[object])
    return object
  }

  /// Finds the token and the channel at their paths. Removes the members of those that are in the payload.
  private func findAddress(_ line: [UInt8], _ object: Range<Int>?, _ push: inout Push) {
    guard tokenPath != nil || channelPath != nil else { return }
    var json = Array(line[opener.json])
    let start = object.map { $0.lowerBound - opener.json.lowerBound }
    if let channelPath, let (channel, removed) = take(channelPath, JSONText(json), start, &push) {
      push.channel = channel
      if let removed { json.removeSubrange(removed) }
    }
    if let tokenPath, let (token, _) = take(tokenPath, JSONText(json), start, &push) { push.token = token }
  }

  /// Returns the text at a path. If it is in the payload, removes its member from there.
  ///
  /// - Parameter start: where the payload begins in the text; nil if it is not a part of it.
  /// - Returns: nil without a text there, or if it is empty; `removed` is the member's place in the text.
  private func take(
    _ path: JSONPointer, _ text: JSONText, _ start: Int?, _ push: inout Push
  ) -> (text: UntrustedText, removed: Range<Int>?)? {
    guard let found = text.find(path), let value = text.string(found.value), !value.isEmpty else { return nil }
    let address = UntrustedText(decoding: value)
    guard let start, let removal = found.removal else { return (address, nil) }
    let inPayload = removal.lowerBound - start..<removal.upperBound - start
    guard inPayload.lowerBound > 0, inPayload.upperBound < push.payload.count else { return (address, nil) }
    push.payload.removeSubrange(inPayload)
    return (address, removal)
  }

  /// Removes each output member whose attachments have `file:` URLs.
  private func dropMedia(of push: inout Push) {
    let text = JSONText(push.payload)
    let removals = text.fileMembers(outputKey, in: text.root, depth: push.envelope == nil ? 0 : 2)
    guard !removals.isEmpty else { return }
    push.payload = LineEdit.apply(removals, to: push.payload)
    push.hasLostMedia = true
  }
}

extension JSONText {
  /// The range of a value, and the range to delete to remove its member; `removal` is nil for an
  /// array element.
  fileprivate struct Found {
    var value: Range<Int>
    var removal: Range<Int>?
  }

  /// Returns the value at a pointer that leads through no string; nil if there is none. The text
  /// must have no white space after its value.
  fileprivate func find(_ pointer: JSONPointer) -> Found? {
    var found = Found(value: bytes.span.skipSpace(from: 0)..<bytes.count)
    for token in pointer.tokens {
      if isArray(found.value) {
        let elements = elements(of: found.value)
        guard let index = token.index, elements.indices.contains(index) else { return nil }
        found = Found(value: elements[index])
      } else {
        let members = members(of: found.value)
        guard let index = members.lastIndex(where: { isNamed($0, token.text) }) else { return nil }
        found = Found(value: members[index].value, removal: removal(of: index..<index + 1, in: members))
      }
    }
    return found
  }

  /// Returns the edits that remove each member of that name whose attachments have `file:` URLs.
  ///
  /// - Parameter depth: the number of object levels to search below the object, except in `aps`.
  fileprivate func fileMembers(_ name: String, in object: Range<Int>, depth: Int) -> [LineEdit] {
    let members = members(of: object)
    var removed: Set<Int> = []
    var edits: [LineEdit] = []
    for (index, member) in members.enumerated() {
      if isNamed(member, name), hasFileURLs(member.value) {
        removed.insert(index)
      } else if depth > 0, isObject(member.value), !isNamed(member, "aps") {
        edits += fileMembers(name, in: member.value, depth: depth - 1)
      }
    }
    return edits + removals(of: removed, in: members)
  }

  private func hasFileURLs(_ member: Range<Int>) -> Bool {
    guard let attachments = value("attachments", of: member) else { return false }
    return elements(of: attachments).contains { attachment in
      guard let url = value("url", of: attachment).flatMap(string) else { return false }
      return url.prefix(5).map(\.lowercasedASCII) == Array("file:".utf8)
    }
  }
}
