/// Says where in a line stands what was read in a payload: the same place, unless an envelope holds the payload or says it in its own words.
struct LinePaths {
  private let root: JSONElement
  /// Where a payload's members may stand, the likeliest first.
  private let bases: [String]
  /// Whether the payload stands in a string, where no pointer of the line leads.
  private let isInString: Bool

  init(_ root: JSONElement, envelope: Envelope?, payloadPath: JSONPointer?) {
    self.root = root
    switch envelope?.form {
    case nil: (bases, isInString) = ([""], false)
    case .path: (bases, isInString) = ([payloadPath?.description ?? ""], true)
    case .sns: (bases, isInString) = ([Self.messagePath(root)], true)
    case .fcm:
      let message = root.member("message") == nil ? "" : "/message"
      let parts = ["/apns/payload", "/data", "/apns", "/notification", "/apns/headers", ""].map { message + $0 }
      (bases, isInString) = (parts, false)
    case .gorush:
      let notification = root.member("notifications") == nil ? "" : "/notifications/0"
      (bases, isInString) = ([notification + "/data", notification], false)
    case .oneSignal, .expo: (bases, isInString) = (["/data", ""], false)
    }
  }

  /// The place in the line of a place in the payload, as JSON pointers.
  func path(of place: String) -> String {
    guard !isInString else { return bases[0] + place }
    guard bases != [""] else { return place }
    let candidates = bases.flatMap { base in Self.wordings(of: place).map { base + $0 } }
    return candidates.first(where: root.holds) ?? bases.first(where: root.holds) ?? ""
  }

  /// The place in the line of a text of the payload, which a service may have taken from anywhere in the line.
  func path(of place: String, saying text: String) -> String {
    let path = path(of: place)
    guard !isInString, (try? JSONPointer(pointer: path)).flatMap({ root.value(at: $0.tokens)?.text }) != text else { return path }
    return root.place(of: text, at: "", depth: 8) ?? path
  }

  /// Whether an envelope of SNS's hands the payload to PushKit.
  var leadsToVoIP: Bool { isInString && bases[0].hasPrefix("/APNS_VOIP") }

  /// Where the envelope says the priority; the empty place when it says it by another name.
  var priority: String {
    [
      "/message/apns/headers/apns-priority", "/apns/headers/apns-priority", "/headers/apns-priority", "/apns-priority", "/apns_priority",
      "/notifications/0/priority", "/message/priority", "/priority",
    ].first(where: root.holds) ?? ""
  }

  /// The place as it is, and as services write it that have no `aps`, or the image under `notification`.
  private static func wordings(of place: String) -> [String] {
    guard !place.isEmpty else { return [] }
    guard place.hasPrefix("/aps/") else { return place == "/fcm_options/image" ? [place, "/image"] : [place] }
    let plain = String(place.dropFirst(4))
    return [place, plain, String(plain.map { $0 == "-" ? "_" : $0 })]
  }

  /// The string of SNS's message that holds the payload.
  private static func messagePath(_ root: JSONElement) -> String {
    SNSEnvelope.names.first { root.member($0)?.isText == true }.map { "/" + $0 } ?? "/Message"
  }
}

extension JSONElement {
  fileprivate func holds(_ pointer: String) -> Bool {
    (try? JSONPointer(pointer: pointer)).flatMap { value(at: $0.tokens) } != nil
  }

  /// Where a string stands within.
  fileprivate func place(of wanted: String, at path: String, depth: Int) -> String? {
    if let text { return text == wanted ? path : nil }
    guard depth > 0 else { return nil }
    var found: String?
    var index = 0
    forEachMember { name, value in
      if found == nil { found = value.place(of: wanted, at: path + JSONPointer(name).description, depth: depth - 1) }
    }
    forEachElement { value in
      if found == nil { found = value.place(of: wanted, at: "\(path)/\(index)", depth: depth - 1) }
      index += 1
    }
    return found
  }
}
