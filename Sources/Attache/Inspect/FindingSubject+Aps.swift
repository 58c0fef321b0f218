extension FindingSubject {
  /// What Apple defines in `aps`.
  ///
  /// Source: https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification (table 1), the last two of
  /// https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications and
  /// https://developer.apple.com/documentation/widgetkit/updating-widgets-with-widgetkit-push-notifications
  static let knownKeys: Set<String> = [
    "alert", "badge", "sound", "thread-id", "category", "content-available", "mutable-content", "target-content-id", "interruption-level",
    "relevance-score", "filter-criteria", "url-args", "stale-date", "content-state", "timestamp", "event", "dismissal-date",
    "attributes-type", "attributes", "input-push-token", "input-push-channel", "content-changed",
  ]

  /// What Apple defines in `aps.alert`, what it defined once included.
  static let knownAlertKeys: Set<String> = [
    "title", "subtitle", "body", "launch-image", "title-loc-key", "title-loc-args", "subtitle-loc-key", "subtitle-loc-args", "loc-key",
    "loc-args", "action", "action-loc-key", "summary-arg", "summary-arg-count", "sound",
  ]

  func apsFindings() -> [LintFinding] {
    var findings = alertFindings() + soundFindings() + badgeFindings() + categoryFindings()
    let media = mediaPlaces
    findings += media.map { finding(.apsMedia, at: $0) }
    let mediaKeys = Set(media.map { $0.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/") })
    aps?.forEachMember { name, _ in
      let path = JSONPointer("aps", name).description
      guard !Self.knownKeys.contains(name), !mediaKeys.contains(path) else { return }
      findings.append(
        finding(.apsUnknown, at: path, "“\(PrintableText.of(name))” is none of Apple's keys; APNs ignores custom keys in aps"))
    }
    return findings
  }

  private func soundFindings() -> [LintFinding] {
    guard let sound = aps?.member("sound"), !sound.isNull, !sound.isString else { return [] }
    guard sound.isObject else {
      return [finding(.apsSound, at: "/aps/sound", "sound is \(sound.typeName), and not a string or a dictionary")]
    }
    guard sound.member("name")?.isString == true else {
      return [finding(.apsSound, at: "/aps/sound", "sound is a dictionary without the name of a sound")]
    }
    return []
  }

  private func badgeFindings() -> [LintFinding] {
    guard let badge = aps?.member("badge"), !badge.isNull, badge.integer.map({ $0 >= 0 }) != true else { return [] }
    return [finding(.apsBadge, at: "/aps/badge", "badge is \(badge.typeName), and not a whole number of 0 or more")]
  }

  private func categoryFindings() -> [LintFinding] {
    guard let category = aps?.member("category"), !category.isNull, !category.isText else { return [] }
    let text = category.isString ? "category is empty, and no actions are shown" : "category is \(category.typeName), and not a string"
    return [finding(.apsCategory, at: "/aps/category", text)]
  }

  /// The places within `aps` that name media: those that a dialect reads, and URLs under keys that are none of Apple's.
  private var mediaPlaces: [String] {
    var places = inspection.media.compactMap(\.reference.path).filter { $0.hasPrefix("/aps/") }
    var known = Set(places)
    for (object, path, keys) in [(aps, "/aps", Self.knownKeys), (aps?.member("alert"), "/aps/alert", Self.knownAlertKeys)] {
      object?.forEachMember { name, value in
        guard !keys.contains(name) else { return }
        value.forEachURL(at: path + JSONPointer(name).description, depth: 4) { place in
          if known.insert(place).inserted { places.append(place) }
        }
      }
    }
    return places
  }
}

extension JSONElement {
  var isNull: Bool { !isPresent && !isString }

  /// The word for its type in a sentence.
  var typeName: String {
    if isObject { return "a dictionary" }
    if isArray { return "an array" }
    if isString { return "a string" }
    if let boolean { return boolean ? "true" : "false" }
    if let number { return "the number \(integer.map(String.init) ?? "\(number)")" }
    return "null"
  }

  /// Calls `body` with the place of each string within that is a URL of media, by its extension or its key.
  fileprivate func forEachURL(at path: String, depth: Int, _ body: (String) -> Void) {
    if let text {
      if text.hasPrefix("https://") || text.hasPrefix("http://"), Self.isOfMedia(text, at: path) { body(path) }
    } else if depth > 0 {
      forEachMember { name, value in value.forEachURL(at: path + JSONPointer(name).description, depth: depth - 1, body) }
      var index = 0
      forEachElement { value in
        value.forEachURL(at: "\(path)/\(index)", depth: depth - 1, body)
        index += 1
      }
    }
  }

  private static func isOfMedia(_ url: String, at path: String) -> Bool {
    let key = path[(path.lastIndex(of: "/") ?? path.startIndex)...].lowercased()
    return FileExtension.of(url).flatMap(HintedType.init(fileExtension:)) != nil
      || ["image", "media", "attachment", "picture", "photo", "video", "audio", "thumb"].contains { key.contains($0) }
  }
}
