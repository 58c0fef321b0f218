internal import Attache

extension FindingSubject {
  func apsFindings() -> [LintFinding] {
    var findings = alertFindings() + soundFindings() + badgeFindings() + categoryFindings()
    let media = mediaPlaces
    findings += media.findings { finding(.apsMedia, at: $0) }
    let mediaKeys = Set(media.places.map(\.firstTwoParts))
    let ownKeys = Dictionary(ApsKeys.ofAps.map { ($0.lettersAlone, $0) }) { first, _ in first }
    aps?.forEachMember { name, _ in
      let path = UntrustedText("/aps").appending(name)
      guard !ApsKeys.ofAps.contains(name), !mediaKeys.contains(path) else { return }
      let fault = ownKeys[name.lettersAlone].map { "Apple's is “\($0)”" } ?? "APNs ignores custom keys in aps"
      findings.append(finding(.apsUnknown, at: path, "“\(PrintableText.of(name))” is not one of Apple's keys; \(fault)"))
    }
    return findings
  }

  private func soundFindings() -> [LintFinding] {
    guard let sound = aps?.member("sound"), !sound.isNull, !sound.isString else { return [] }
    guard sound.isObject else {
      return [finding(.apsSound, at: "/aps/sound", "sound is \(sound.typeName), not a string or a dictionary")]
    }
    guard sound.member("name")?.isString == true else {
      return [finding(.apsSound, at: "/aps/sound", "sound is a dictionary without the name of a sound")]
    }
    return []
  }

  private func badgeFindings() -> [LintFinding] {
    guard let badge = aps?.member("badge"), !badge.isNull, badge.integer.map({ $0 >= 0 }) != true else { return [] }
    return [finding(.apsBadge, at: "/aps/badge", "badge is \(badge.typeName), not a whole number of 0 or more")]
  }

  private func categoryFindings() -> [LintFinding] {
    guard let category = aps?.member("category"), !category.isNull else { return [] }
    if let name = category.text, !name.isEmpty {
      guard !categories.isEmpty, categories.actions(of: name) == nil else { return [] }
      let text = "the app has no category “\(PrintableText.of(name))”; it has \(categories.examples)"
      return [finding(.categoryUnknown, at: "/aps/category", text)]
    }
    let text = category.isString ? "category is empty, so no actions are shown" : "category is \(category.typeName), not a string"
    return [finding(.apsCategory, at: "/aps/category", text)]
  }

  /// The places within `aps` that name media: those that a dialect reads, and URLs under keys that
  /// Apple does not define.
  private var mediaPlaces: MediaPlaces {
    var found = MediaPlaces(places: inspection.media.compactMap(\.reference.path).filter { $0.starts(with: "/aps/") })
    for (object, path, keys) in [(aps, "/aps", ApsKeys.ofAps), (aps?.member("alert"), "/aps/alert", ApsKeys.ofAlert)] {
      object?.forEachMember { name, value in
        guard !keys.contains(name) else { return }
        let place = PlacePath(parent: nil, name: UntrustedText(path).appending(name), key: name)
        value.forEachURL(at: place, depth: 4) { found.add($0) }
      }
    }
    return found
  }
}

/// Places of media in `aps`: the first of them, and the number of further ones.
private struct MediaPlaces {
  /// The distinct places.
  private(set) var places: [UntrustedText]
  /// The number of places after the limit was reached. They are not checked for repetitions.
  private var more = 0
  private var known: Set<UntrustedText>
  /// The maximum number of places, including those that a dialect reads. It exceeds the number of
  /// findings that are reported.
  private static let maximum = 100

  init(places: [UntrustedText]) {
    self.places = places
    known = Set(places)
  }

  mutating func add(_ place: PlacePath) {
    guard places.count < Self.maximum else { return more += 1 }
    let pointer = place.pointer
    if known.insert(pointer).inserted { places.append(pointer) }
  }

  /// Returns a finding for each place. Places beyond the limit are reported at the last place
  /// within it.
  func findings(_ finding: (UntrustedText) -> LintFinding) -> [LintFinding] {
    let findings = places.map(finding)
    guard let last = findings.last else { return [] }
    return findings + repeatElement(last, count: more)
  }
}

/// A place below another. Its pointer is built on request: building it for each of thousands of
/// values would copy a long name above them each time.
private final class PlacePath {
  private let parent: PlacePath?
  /// The pointer of the outermost place; for any other, its part of the pointer.
  private let name: UntrustedText
  /// The name of the member; nil for an element of an array.
  let key: UntrustedText?

  init(parent: PlacePath?, name: UntrustedText, key: UntrustedText?) {
    (self.parent, self.name, self.key) = (parent, name, key)
  }

  var pointer: UntrustedText { parent?.pointer.appending(name) ?? name }
}

extension UntrustedText {
  /// The ASCII letters in lower case, without the marks between words.
  fileprivate var lettersAlone: [UInt8] { utf8.filter(\.isLetterASCII).map(\.lowercasedASCII) }

  /// The first two parts of a JSON pointer.
  fileprivate var firstTwoParts: UntrustedText {
    var slashes = 0
    return UntrustedText(
      decoding: utf8.prefix { byte in
        if byte == UInt8(ascii: "/") { slashes += 1 }
        return slashes < 3
      })
  }
}

extension JSONElement {
  /// Calls `body` with the place of each string inside that is a media URL, judged by its extension
  /// or its key.
  fileprivate func forEachURL(at place: PlacePath, depth: Int, _ body: (PlacePath) -> Void) {
    if let text {
      if text.starts(with: "https://") || text.starts(with: "http://"), Self.isOfMedia(text, place.key) { body(place) }
    } else if depth > 0 {
      forEachMember { name, value in
        value.forEachURL(at: PlacePath(parent: place, name: name, key: name), depth: depth - 1, body)
      }
      var index = 0
      forEachElement { value in
        value.forEachURL(at: PlacePath(parent: place, name: UntrustedText(String(index)), key: nil), depth: depth - 1, body)
        index += 1
      }
    }
  }

  private static func isOfMedia(_ url: UntrustedText, _ key: UntrustedText?) -> Bool {
    if FileExtension.of(url).flatMap(HintedType.init(fileExtension:)) != nil { return true }
    let words = ["image", "media", "attachment", "picture", "photo", "video", "audio", "thumb"]
    guard let key = key.map({ Array($0.utf8.map(\.lowercasedASCII)) }) else { return false }
    return key.indices.contains { start in words.contains { key[start...].starts(with: $0.utf8) } }
  }
}
