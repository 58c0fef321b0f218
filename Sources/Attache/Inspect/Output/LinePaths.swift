/// Says where in a line stands what was read in a payload: the same place, unless an envelope holds
/// the payload or says it in its own words.
struct LinePaths {
  private let places: LinePlaces
  /// Where a payload's members may stand, the likeliest first; when there is one, they do.
  private let bases: [UntrustedText]
  /// Which notification of the line it is, counted from 0.
  private let notification: Int
  /// Where the payload itself stands.
  let payload: UntrustedText
  /// Whether an envelope of SNS's hands the payload to PushKit.
  let leadsToVoIP: Bool

  /// - Parameter places: those of the line, which its payloads share.
  init(_ root: JSONElement, _ places: LinePlaces, envelope: Envelope?, payloadPath: JSONPointer?) {
    notification = (envelope?.notification ?? 1) - 1
    self.places = places
    switch envelope?.form {
    case nil: bases = [""]
    case .path: bases = [UntrustedText(payloadPath?.description ?? "")]
    case .sns: bases = [Self.messagePath(root)]
    case .fcm:
      let message = root.member("message") == nil ? "" : "/message"
      bases = ["/apns/payload", "/data", "/apns", "/notification", "/apns/headers", ""].map { UntrustedText(message + $0) }
    case .gorush:
      let base = root.member("notifications") == nil ? "" : "/notifications/\(notification)"
      bases = [UntrustedText(base + "/data"), UntrustedText(base)]
    case .oneSignal, .expo: bases = ["/data", ""]
    }
    let isWhole = envelope?.form != .fcm || !places.holds(bases[0])
    payload = isWhole ? bases.last ?? "" : bases[0]
    leadsToVoIP = envelope?.form == .sns && bases[0].starts(with: "/APNS_VOIP")
  }

  /// The place in the line of a place in the payload, as JSON pointers.
  func path(of place: UntrustedText) -> UntrustedText {
    guard bases.count > 1 else { return bases[0].followed(by: place) }
    return writtenPath(of: place) ?? payload
  }

  /// The place in the line of a text of the payload, which a service may have taken from anywhere
  /// in the line.
  func path(of place: UntrustedText, saying text: UntrustedText) -> UntrustedText {
    let path = path(of: place)
    guard bases.count > 1, places.value(at: path)?.text != text else { return path }
    return places.place(of: text) ?? path
  }

  /// Whether the sender wrote what stands at a place of the payload, and no service adds it.
  func isWritten(_ place: UntrustedText) -> Bool {
    bases.count == 1 || writtenPath(of: place) != nil
  }

  private func writtenPath(of place: UntrustedText) -> UntrustedText? {
    let wordings = Self.wordings(of: place)
    return bases.lazy.flatMap { base in wordings.lazy.map { base.followed(by: $0) } }.first(where: places.holds)
  }

  /// Where the envelope says the priority; the empty place when it says it by another name.
  var priority: UntrustedText {
    let places: [UntrustedText] = [
      "/message/apns/headers/apns-priority", "/apns/headers/apns-priority", "/headers/apns-priority", "/apns-priority", "/apns_priority",
      "/notifications/\(notification)/priority", "/message/priority", "/priority",
    ]
    return places.first(where: self.places.holds) ?? ""
  }

  /// The place as it is, and as services write it that have no `aps`, or the image under
  /// `notification`.
  private static func wordings(of place: UntrustedText) -> [UntrustedText] {
    guard !place.isEmpty else { return [] }
    guard place.starts(with: "/aps/") else { return place == "/fcm_options/image" ? [place, "/image"] : [place] }
    let plain = Array(place.utf8.dropFirst(4))
    let words = plain.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let camelCase = words.dropFirst().reduce(into: Array(words[0])) { name, word in
      name += word.prefix(1).map(\.uppercasedASCII) + word.dropFirst()
    }
    let wordings: [[UInt8]] = [plain, Array(words.joined(separator: "_".utf8)), camelCase, "/_".utf8 + Array(camelCase.dropFirst())]
    return [place] + wordings.map { UntrustedText(decoding: $0) }
  }

  /// The string of SNS's message that holds the payload.
  private static func messagePath(_ root: JSONElement) -> UntrustedText {
    SNSEnvelope.names.first { root.member($0)?.isText == true }.map { UntrustedText("/" + $0) } ?? "/Message"
  }
}
