/// The place in a payload where a dialect read the URL of an attachment, and the type hint that
/// belongs to it.
package struct MediaSite: Hashable, Sendable {
  /// A path from the payload. Each part but the last leads to a string, whose JSON contains the
  /// rest.
  typealias Path = [[JSONPointer.Token]]

  /// A type hint that the payload itself contains.
  struct Hint: Hashable, Sendable {
    let path: Path
    let text: UntrustedText
    let kind: MediaReference.HintKind?
    /// The vendor's own words, with the uniform type of each.
    let words: [UntrustedText: String]
    /// Where the dialect reads the hint, and what it demands of the payload for this attachment: a
    /// hint may decide whether there is one.
    let place: DialectPath?
    let conditions: [Condition]

    init(
      path: Path, text: UntrustedText, kind: MediaReference.HintKind?, words: [UntrustedText: String], place: DialectPath? = nil,
      conditions: [Condition] = []
    ) {
      (self.path, self.text, self.kind, self.words, self.place, self.conditions) = (path, text, kind, words, place, conditions)
    }
  }

  /// The maximum number of sites kept per payload, because a payload may name one URL again and
  /// again. APNs accepts 4,096 bytes, so 256 sites have 16 bytes each.
  package static let maximum = 256

  /// The string at the place.
  let written: UntrustedText
  /// The URL in it.
  let url: UntrustedText
  /// The URL of the reference. It differs from ``url`` if that is one of its fallbacks.
  let media: UntrustedText
  let path: Path
  /// Nil if the payload has no hint, or none that can be replaced.
  let hint: Hint?

  /// Creates a site.
  init(written: UntrustedText, url: UntrustedText, media: UntrustedText, path: Path, hint: Hint? = nil) {
    (self.written, self.url, self.media, self.path, self.hint) = (written, url, media, path, hint)
  }
}

extension MediaSite.Hint {
  /// Returns the hint for media of this type in the same notation, for example `image/png` instead
  /// of `image/jpeg`; nil if the hint stays.
  ///
  /// A hint stays if it is true of the type, if its meaning is not known, if the vendor has no word
  /// for the type, or if the dialect would not find the attachment with the new hint.
  func replacement(for type: MediaType) -> UntrustedText? {
    guard let new = word(of: type) else { return nil }
    guard let place else { return new }
    return conditions.allSatisfy { $0.admits(new, at: place) } ? new : nil
  }

  private func word(of type: MediaType) -> UntrustedText? {
    let meaning = HintedType(text, kind, meaning: words[text])
    guard let meaning, !meaning.agrees(with: .type(type)) else { return nil }
    if words[text] != nil { return word(for: type) }
    let dot = UInt8(ascii: ".")
    switch kind ?? MediaReference.HintKind(of: text) {
    case .mime: return UntrustedText(type.mime)
    case .mediaClass: return UntrustedText(type.kind.rawValue)
    case .fileExtension, .uniformType:
      if text.utf8.first == dot { return UntrustedText("." + type.fileExtension) }
      if text.utf8.contains(dot) { return UntrustedText(type.rawValue) }
      if case .kind = meaning { return UntrustedText(type.kind.rawValue) }
      return UntrustedText(type.fileExtension)
    }
  }

  /// Returns the vendor's word for the type itself, otherwise for its kind. Of several, returns the
  /// one of the hint's form (with or without a slash), and of these the shortest.
  private func word(for type: MediaType) -> UntrustedText? {
    func rank(_ word: UntrustedText, _ meaning: String) -> (Int, Int, Int) {
      (meaning == type.rawValue ? 0 : 1, hasSlash(word) == hasSlash(text) ? 0 : 1, word.utf8.count)
    }
    let fitting = words.filter { HintedType($0.key, kind, meaning: $0.value)?.agrees(with: .type(type)) == true }
    return fitting.min { left, right in
      let (one, other) = (rank(left.key, left.value), rank(right.key, right.value))
      return one == other ? left.key.utf8.lexicographicallyPrecedes(right.key.utf8) : one < other
    }?.key
  }

  private func hasSlash(_ word: UntrustedText) -> Bool { word.utf8.contains(UInt8(ascii: "/")) }
}
