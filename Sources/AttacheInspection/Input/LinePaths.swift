internal import Attache

/// Maps places in a payload to places in its line. They are the same, unless an envelope contains
/// the payload or uses its own names.
struct LinePaths {
  private let places: LinePlaces
  /// The possible parents of the payload's members, the most likely first. If there is only one, it
  /// is the payload's own place.
  private let bases: [UntrustedText]
  /// Where the sender wrote the values that a service copies into the payload.
  private let written: WrittenPlaces
  /// The index of the notification in the line, counted from 0.
  private let notification: Int
  /// The place of the payload itself.
  let payload: UntrustedText
  /// The whole line.
  let root: JSONElement

  /// - Parameter places: the places of the line, shared by its payloads.
  init(_ root: JSONElement, _ places: LinePlaces, _ written: WrittenPlaces, _ envelope: Envelope?) {
    notification = (envelope?.notification ?? 1) - 1
    (self.root, self.places, self.written) = (root, places, written)
    let target = UntrustedText(written.target.description)
    switch envelope?.form {
    case nil, .path, .sns, .fcmLegacy: bases = [target]
    case .fcm:
      let message = root.member("message") == nil ? "" : "/message"
      bases = ["/apns/payload", "/data", "/apns", "/notification", "/apns/headers", ""].map { UntrustedText(message + $0) }
    case .gorush:
      let base = root.member("notifications") == nil ? "" : "/notifications/\(notification)"
      bases = [UntrustedText(base + "/data"), UntrustedText(base)]
    case .expo:
      let base = root.isArray ? "/\(notification)" : ""
      bases = [UntrustedText(base + "/data"), UntrustedText(base)]
    case .oneSignal: bases = ["/data", ""]
    }
    payload = envelope?.form == .fcm ? target : bases.last ?? ""
  }

  /// Converts a JSON pointer in the payload to one in the line.
  func path(of place: UntrustedText) -> UntrustedText {
    guard bases.count > 1 else { return bases[0].followed(by: place) }
    return writtenPath(of: place) ?? payload
  }

  /// Returns the sentence about a value of another type, with its place in the line.
  func sentence(of misfit: MediaMisfit) -> String {
    misfit.sentence(at: written.place(of: misfit.place) ?? misfit.place)
  }

  /// Returns the place in the line where the sender wrote the value of a place of the payload, under
  /// any of its names; nil if a service adds it.
  func writtenPath(anyOf place: UntrustedText) -> UntrustedText? { bases.count > 1 ? writtenPath(of: place) : nil }

  /// Returns a text of the message that a service makes the payload of, and its place.
  func text(of name: UntrustedText) -> (text: UntrustedText, path: UntrustedText)? {
    guard let path = bases.last?.appending(name) else { return nil }
    return places.value(at: path)?.text.map { ($0, path) }
  }

  /// Returns whether the sender wrote the value at a place of the payload; false if a service adds
  /// it.
  func isWritten(_ place: UntrustedText) -> Bool {
    bases.count == 1 || writtenPath(of: place) != nil
  }

  private func writtenPath(of place: UntrustedText) -> UntrustedText? {
    if let pointer = try? JSONPointer(pointer: place.string), let found = written.place(of: pointer) {
      return UntrustedText(found.description)
    }
    let wordings = Self.wordings(of: place)
    return bases.lazy.flatMap { base in wordings.lazy.map { base.followed(by: $0) } }.first(where: places.holds)
  }

  /// The place of the envelope's priority; empty if the envelope uses another name.
  var priority: UntrustedText {
    place(ofHeader: "priority", or: ["/notifications/\(notification)/priority", "/message/priority", "/priority"])
  }

  /// The place of the envelope's push type; empty if the envelope uses another name.
  var pushType: UntrustedText {
    place(ofHeader: "push-type", or: ["/apns_push_type", "/apns_push_type_override", "/notifications/\(notification)/push_type"])
  }

  private func place(ofHeader name: UntrustedText, or others: [UntrustedText]) -> UntrustedText {
    let headers: [UntrustedText] = ["/message/apns/headers/apns-", "/apns/headers/apns-", "/headers/apns-", "/apns-", "/apns_"]
    return (headers.map { "\($0)\(name)" } + others).first(where: places.holds) ?? ""
  }

  /// Returns the possible spellings of a place: unchanged, and as services without `aps` write it.
  private static func wordings(of place: UntrustedText) -> [UntrustedText] {
    guard !place.isEmpty else { return [] }
    guard place.starts(with: "/aps/") else { return [place] }
    let plain = Array(place.utf8.dropFirst(4))
    let words = plain.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let camelCase = words.dropFirst().reduce(into: Array(words[0])) { name, word in
      name += word.prefix(1).map(\.uppercasedASCII) + word.dropFirst()
    }
    let wordings: [[UInt8]] = [plain, Array(words.joined(separator: "_".utf8)), camelCase, "/_".utf8 + Array(camelCase.dropFirst())]
    return [place] + wordings.map { UntrustedText(decoding: $0) }
  }
}
