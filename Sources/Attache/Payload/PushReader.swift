/// One push of a line, as it goes to APNs.
package struct Push: Hashable, Sendable {
  /// The JSON that the device gets.
  package var payload: [UInt8]
  package var kind: PushKind
  /// What stands around the payload; nil for a payload alone.
  package var envelope: Envelope?
  /// What stands at the token path, else the envelope's device token, unchecked; nil when neither
  /// names one.
  package var token: UntrustedText?
  /// Whether the output member was taken out, because its attachments have `file:` URLs.
  package var hasLostMedia = false
}

/// What a line has for APNs.
package enum PushReading: Hashable, Sendable {
  case push(Push)
  /// So many notifications, which a request to APNs cannot take.
  case several(Int)
  /// No payload; one line says why.
  case nothing(String)
}

/// Reads from one line after another what goes to APNs.
///
/// The payload leaves as it is written, less two members. One holds the device token, where the
/// token path leads into the payload. The other is the output member (`attache`), where its
/// attachments have `file:` URLs: no device can load them.
///
/// It owns parsers, so it is used by one thread at a time.
package final class PushReader {
  private let opener: LineOpener
  private let aps = ApsReader()
  private let outputKey: String
  private let tokenPath: JSONPointer?

  /// - Parameters:
  ///   - outputKey: the member that an attached payload has gained.
  ///   - payloadPath: where the payload stands in the line; nil is the whole line, or where the
  ///     envelope of a push service has it.
  ///   - tokenPath: where the device token stands in the line; what is found there takes precedence
  ///     over the envelope's.
  package init(outputKey: String = "attache", payloadPath: JSONPointer? = nil, tokenPath: JSONPointer? = nil) {
    opener = LineOpener(outputKey: outputKey, path: payloadPath, readsDelivery: true)
    self.outputKey = outputKey
    self.tokenPath = tokenPath
  }

  /// Makes sure that there was memory for the parsers, before the first line.
  ///
  /// - Throws: ``SystemError`` of `malloc`.
  package func checkMemory() throws(SystemError) {
    guard opener.hasMemory else { throw .noMemory }
  }

  /// Reads a line.
  ///
  /// - Parameter line: with its ending.
  package func read(_ line: [UInt8]) -> PushReading {
    let segment = Segment(copying: line, padding: PayloadReader.padding)
    return unsafe segment.withUnsafeBytes { bytes in
      switch unsafe opener.open(bytes) {
      case .blank: .nothing("the line is blank")
      case .overlong: .nothing("the line is longer than 1 MiB")
      case .invalid: .nothing("the line is no JSON object")
      case .empty: .nothing("there is no object at --payload-path")
      case .unopened: .nothing("the envelope holds no payload for Apple's devices")
      case .payload: unsafe read(line, bytes)
      }
    }
  }

  private func read(_ line: [UInt8], _ bytes: UnsafeRawBufferPointer) -> PushReading {
    let kind = aps.read(opener.aps)
    let isEnriched = opener.isEnriched
    var push = Push(payload: [], kind: kind, envelope: opener.envelope, token: opener.envelope?.token)
    let object = unsafe payload(line, bytes, &push)
    findToken(line, object, &push)
    if isEnriched { dropMedia(of: &push) }
    var count = 1
    while opener.next() != nil { count += 1 }
    return count == 1 ? .push(push) : .several(count)
  }

  /// Fills in the payload.
  ///
  /// - Returns: where it stands in the line; nil when it is made of the line, or stands in a
  ///   string.
  private func payload(_ line: [UInt8], _ bytes: UnsafeRawBufferPointer, _ push: inout Push) -> Range<Int>? {
    if let made = opener.handedOn {
      push.payload = made
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

  /// Finds the token at the token path, and takes its member out of the payload where it stands in
  /// it.
  private func findToken(_ line: [UInt8], _ object: Range<Int>?, _ push: inout Push) {
    guard let tokenPath else { return }
    let text = JSONText(Array(line[opener.json]))
    guard let found = text.find(tokenPath), let token = text.string(found.value), !token.isEmpty else { return }
    push.token = UntrustedText(decoding: token)
    guard let object, let removal = found.removal else { return }
    let start = object.lowerBound - opener.json.lowerBound
    let inPayload = removal.lowerBound - start..<removal.upperBound - start
    guard inPayload.lowerBound > 0, inPayload.upperBound < push.payload.count else { return }
    push.payload.removeSubrange(inPayload)
  }

  /// Takes out each output member whose attachments have `file:` URLs.
  private func dropMedia(of push: inout Push) {
    while true {
      let text = JSONText(push.payload)
      guard let removal = text.fileMember(outputKey, in: text.root, depth: push.envelope == nil ? 0 : 2) else { return }
      push.payload = LineEdit.apply([LineEdit(removal, [])], to: push.payload)
      push.hasLostMedia = true
    }
  }
}

extension JSONText {
  /// A value, and the bytes that leave with its member; nil for an array's element.
  fileprivate struct Found {
    var value: Range<Int>
    var removal: Range<Int>?
  }

  /// What stands at a place that leads through no string; nil when there is nothing. No space
  /// stands behind the text's value.
  fileprivate func find(_ pointer: JSONPointer) -> Found? {
    var found = Found(value: JSONSource.skipSpace(bytes.span, from: 0)..<bytes.count)
    for token in pointer.tokens {
      if isArray(found.value) {
        let elements = elements(of: found.value)
        guard let index = token.index, elements.indices.contains(index) else { return nil }
        found = Found(value: elements[index])
      } else {
        let members = members(of: found.value)
        guard let index = members.lastIndex(where: { isNamed($0, token.text) }) else { return nil }
        found = Found(value: members[index].value, removal: removal(of: index, in: members))
      }
    }
    return found
  }

  /// The bytes that leave with a member of an object: the comma before it, or, for the first
  /// member, the one behind it.
  private func removal(of index: Int, in members: [Member]) -> Range<Int> {
    let member = members[index]
    if index > 0 { return JSONSource.skipSpace(bytes.span, from: members[index - 1].value.upperBound)..<member.value.upperBound }
    guard members.count > 1 else { return member.name.lowerBound..<member.value.upperBound }
    return member.name.lowerBound..<JSONSource.skipSpace(bytes.span, from: member.value.upperBound) + 1
  }

  /// The bytes that leave with a member of that name whose attachments have `file:` URLs.
  ///
  /// - Parameter depth: how many levels of objects are searched below the object, `aps` excepted.
  fileprivate func fileMember(_ name: String, in object: Range<Int>, depth: Int) -> Range<Int>? {
    let members = members(of: object)
    for (index, member) in members.enumerated() {
      if isNamed(member, name), hasFileURLs(member.value) { return removal(of: index, in: members) }
      if depth > 0, isObject(member.value), !isNamed(member, "aps"), let found = fileMember(name, in: member.value, depth: depth - 1) {
        return found
      }
    }
    return nil
  }

  private func hasFileURLs(_ member: Range<Int>) -> Bool {
    guard let attachments = value("attachments", of: member) else { return false }
    return elements(of: attachments).contains { attachment in
      guard let url = value("url", of: attachment).flatMap(string) else { return false }
      return url.prefix(5).map(\.lowercasedASCII) == Array("file:".utf8)
    }
  }
}
