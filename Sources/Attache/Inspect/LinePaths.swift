/// Says where in a line stands what was read in a payload: the same place, unless an envelope holds the payload or says it in its own words.
struct LinePaths {
  private let places: LinePlaces
  /// Where a payload's members may stand, the likeliest first; when there is one, they do.
  private let bases: [String]
  /// Which notification of the line it is, counted from 0.
  private let notification: Int
  /// Where the payload itself stands.
  let payload: String
  /// Whether an envelope of SNS's hands the payload to PushKit.
  let leadsToVoIP: Bool

  init(_ root: JSONElement, envelope: Envelope?, payloadPath: JSONPointer?) {
    notification = (envelope?.notification ?? 1) - 1
    places = LinePlaces(root)
    switch envelope?.form {
    case nil: bases = [""]
    case .path: bases = [payloadPath?.description ?? ""]
    case .sns: bases = [Self.messagePath(root)]
    case .fcm:
      let message = root.member("message") == nil ? "" : "/message"
      bases = ["/apns/payload", "/data", "/apns", "/notification", "/apns/headers", ""].map { message + $0 }
    case .gorush:
      let base = root.member("notifications") == nil ? "" : "/notifications/\(notification)"
      bases = [base + "/data", base]
    case .oneSignal, .expo: bases = ["/data", ""]
    }
    let isWhole = envelope?.form != .fcm || !places.holds(bases[0])
    payload = isWhole ? bases.last ?? "" : bases[0]
    leadsToVoIP = envelope?.form == .sns && bases[0].hasPrefix("/APNS_VOIP")
  }

  /// The place in the line of a place in the payload, as JSON pointers.
  func path(of place: String) -> String {
    guard bases.count > 1 else { return bases[0] + place }
    return writtenPath(of: place) ?? payload
  }

  /// The place in the line of a text of the payload, which a service may have taken from anywhere in the line.
  func path(of place: String, saying text: String) -> String {
    let path = path(of: place)
    guard bases.count > 1, places.value(at: path)?.text != text else { return path }
    return places.place(of: text) ?? path
  }

  /// Whether the sender wrote what stands at a place of the payload, and no service adds it.
  func isWritten(_ place: String) -> Bool {
    bases.count == 1 || writtenPath(of: place) != nil
  }

  private func writtenPath(of place: String) -> String? {
    let wordings = Self.wordings(of: place)
    return bases.lazy.flatMap { base in wordings.lazy.map { base + $0 } }.first(where: places.holds)
  }

  /// Where the envelope says the priority; the empty place when it says it by another name.
  var priority: String {
    [
      "/message/apns/headers/apns-priority", "/apns/headers/apns-priority", "/headers/apns-priority", "/apns-priority", "/apns_priority",
      "/notifications/\(notification)/priority", "/message/priority", "/priority",
    ].first(where: places.holds) ?? ""
  }

  /// The place as it is, and as services write it that have no `aps`, or the image under `notification`.
  private static func wordings(of place: String) -> [String] {
    guard !place.isEmpty else { return [] }
    guard place.hasPrefix("/aps/") else { return place == "/fcm_options/image" ? [place, "/image"] : [place] }
    let plain = String(place.dropFirst(4))
    let words = plain.split(separator: "-", omittingEmptySubsequences: false)
    let camelCase = words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
    return [place, plain, words.joined(separator: "_"), camelCase, "/_" + camelCase.dropFirst()]
  }

  /// The string of SNS's message that holds the payload.
  private static func messagePath(_ root: JSONElement) -> String {
    SNSEnvelope.names.first { root.member($0)?.isText == true }.map { "/" + $0 } ?? "/Message"
  }
}
