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
  /// Nothing that can be sent. The text gives the reason in one line.
  case nothing(String)
}

/// Reads the payload to send to APNs from one line after another.
///
/// The payload is sent as written, without what is not for a device: the device token and the channel, if
/// their paths lead into the payload, and the output member (`attache`), if its attachments have `file:`
/// URLs, which no device can load.
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
    var push = unsafe Push(payload: payload(line, bytes), traits: traits, envelope: opener.envelope, token: opener.envelope?.token)
    if let channelPath {
      switch takeAddress(channelPath, line, from: &push) {
      case .text(let channel): push.channel = channel
      case .nothing: break
      case .otherType: return .nothing("BadChannelId: the channel at \(channelPath) is not a string")
      }
    }
    if let tokenPath, case .text(let token) = takeAddress(tokenPath, line, from: &push) { push.token = token }
    if isEnriched { dropMedia(of: &push) }
    var count = 1
    while opener.next() != nil { count += 1 }
    return count == 1 ? .push(push) : .several(count)
  }

  /// Returns the payload as it stands in the line, or as a service builds it.
  private func payload(_ line: [UInt8], _ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    if let built = opener.place?.built { return built }
    if let place = opener.place, let text = place.text { return Array(text.source(place.object)) }
    return unsafe Array(line[opener.splice(of: bytes).payload])
  }

  /// What stands at the path of an address.
  private enum Address {
    case text(UntrustedText)
    /// Nothing, null or an empty string.
    case nothing
    case otherType
  }

  /// Returns what stands at a path, and removes it from the payload: no device reads an address.
  private func takeAddress(_ path: JSONPointer, _ line: [UInt8], from push: inout Push) -> Address {
    if let rest = partsInPayload(of: path) {
      let payload = JSONText(push.payload)
      guard let found = payload.find(rest) else { return .nothing }
      push.payload = LineEdit.apply(found.removals, to: push.payload)
      return Self.address(payload, found.value)
    }
    let text = JSONText(Array(line[opener.json]))
    guard let found = text.find(path.tokens[...]) else { return .nothing }
    let address = Self.address(text, found.value)
    if opener.place?.built != nil, case .text(let value) = address { removeCopy(of: value, path, from: &push) }
    return address
  }

  private static func address(_ text: JSONText, _ value: Range<Int>) -> Address {
    guard !text.isNull(value) else { return .nothing }
    return text.string(value).map { $0.isEmpty ? .nothing : .text(UntrustedText(decoding: $0)) } ?? .otherType
  }

  /// Returns the parts of a path behind the payload's own path; nil if the path does not lead into the
  /// payload, or if a service builds the payload from the line.
  private func partsInPayload(of path: JSONPointer) -> ArraySlice<JSONPointer.Token>? {
    let own = opener.path.tokens
    guard opener.place?.built == nil, path.tokens.starts(with: own, by: { $0.text.utf8.elementsEqual($1.text.utf8) }) else { return nil }
    return path.tokens.dropFirst(own.count)
  }

  /// Removes the address that a service has copied into the payload that it builds: the value is at the end
  /// of the path.
  private func removeCopy(of address: UntrustedText, _ path: JSONPointer, from push: inout Push) {
    let payload = JSONText(push.payload)
    for start in path.tokens.indices {
      guard let found = payload.find(path.tokens[start...]), payload.string(found.value) == Array(address.utf8) else { continue }
      push.payload = LineEdit.apply(found.removals, to: push.payload)
      return
    }
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
  /// The range of a value, and the edits that remove all members of its name; none for an element of an array,
  /// and for an object or an array.
  fileprivate struct Found {
    var value: Range<Int>
    var removals: [LineEdit] = []
  }

  /// Returns the value at the parts of a path that leads through no string; nil if there is none.
  fileprivate func find(_ parts: ArraySlice<JSONPointer.Token>) -> Found? {
    var found = Found(value: root)
    for part in parts {
      if isArray(found.value) {
        let elements = elements(of: found.value)
        guard let index = part.index, elements.indices.contains(index) else { return nil }
        found = Found(value: elements[index])
      } else {
        let members = members(of: found.value)
        let named = members.indices.filter { isNamed(members[$0], part.text) }
        guard let value = named.last.map({ members[$0].value }) else { return nil }
        found = Found(value: value, removals: isObject(value) || isArray(value) ? [] : removals(of: Set(named), in: members))
      }
    }
    return found
  }
}
