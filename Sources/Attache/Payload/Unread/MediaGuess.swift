/// Guesses whether a string of a payload is the URL of media, by its bytes and its name alone.
enum MediaGuess {
  /// Names of members whose URL is mostly a target for a tap: they count only with an extension.
  private static let targets: [StaticString] = ["url", "link", "href"]
  /// Names of members whose URL is hardly ever a medium, outside the payload.
  private static let taps: [StaticString] = ["icon", "click", "action"]
  private static let pictures: [StaticString] = [
    "image", "picture", "photo", "media", "attachment", "thumb", "hero", "img", "banner", "poster", "artwork", "video", "audio",
  ]
  /// Further such words, which other words contain (topic, discover): they count where a word of the name begins.
  private static let shortPictures: [StaticString] = ["pic", "cover", "gif"]
  /// Words that make the name of a picture that of a target: `bannerClickUrl`.
  private static let clicks: [StaticString] = ["click", "action", "href", "deeplink", "landing", "redirect"]
  /// The longest name of a member that is compared, in bytes.
  private static let longestName = 256
  private static let prefixes: [StaticString] = ["https://", "http://", "//"]
  /// How placeholders of templates begin.
  private static let placeholders: [StaticString] = ["{{", "${", "$(", "<%", "%%", "{%"]
  private static let dataKinds: [StaticString] = ["image/", "audio/", "video/"]

  /// The names of the members that have a string: its own, also through arrays, and that around it.
  @unsafe
  struct Names {
    var own: UnsafeRawBufferPointer?
    var outer: UnsafeRawBufferPointer?
  }

  /// What a string looks like.
  enum Kind: Hashable {
    /// A URL with http(s) or `//`.
    case url
    /// A URL that has the file in itself (`data:`).
    case data
    /// A text under a picture word that is meant as a URL and is none.
    case slip
    /// The path of a file without a host, under a picture word.
    case relative
    /// A placeholder of a template, under a picture word.
    case placeholder
  }

  /// Returns whether a text may look like media; false for most strings.
  static func mayLookLikeMedia(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = unsafe start(of: text) else { return false }
    switch unsafe text[first].lowercasedASCII {
    case UInt8(ascii: "h"), UInt8(ascii: "d"), UInt8(ascii: "w"):
      // A URL, the name of a host, or a slip of one has a mark.
      if unsafe text.contains(where: isMark) { return true }
    case UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: "{"), UInt8(ascii: "["),
      UInt8(ascii: "$"), UInt8(ascii: "%"):
      return true
    default: break
    }
    // The name of a file, a path or a host, or a file.
    if unsafe text.distance(behind: UInt8(ascii: ".")) != nil,
      unsafe text.suffix(6).contains(UInt8(ascii: ".")) || text.distance(behind: UInt8(ascii: "/")) != nil
    {
      return true
    }
    return unsafe text.count >= 64 && text.prefix(24).allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  private static func isMark(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "\\"): true
    default: false
    }
  }

  private static func start(of text: UnsafeRawBufferPointer) -> Int? {
    var start = 0
    while start < text.count, unsafe text[start] <= 0x20 { start += 1 }
    return start < text.count ? start : nil
  }

  /// Returns what a text looks like; nil for any other. A URL counts if it has a media extension, or
  /// has none but stands under a word for a picture.
  ///
  /// - Parameters:
  ///   - text: the string, without escapes.
  ///   - names: few strings need them.
  ///   - besidesTaps: whether a name that is surely a target for a tap, or an icon, never counts.
  static func kind(_ text: UnsafeRawBufferPointer, _ names: @autoclosure () -> Names, besidesTaps: Bool = false) -> Kind? {
    guard let start = unsafe start(of: text) else { return nil }
    let url = unsafe UnsafeRawBufferPointer(rebasing: text[start...])
    if unsafe url.begins(with: "data:") {
      let content = unsafe UnsafeRawBufferPointer(rebasing: url.dropFirst(5))
      return unsafe dataKinds.contains { unsafe content.begins(with: $0) } || isPicture(names()) ? .data : nil
    }
    if let host = unsafe hostBehindPrefix(of: url) {
      guard unsafe hasMediaExtension(host) else { return unsafe isPicture(names()) ? .url : nil }
      return unsafe besidesTaps && isNamed(names().own, taps) ? nil : .url
    }
    guard unsafe isPicture(names()) else { return nil }
    if placeholders.contains(where: { unsafe url.begins(with: $0) }) { return .placeholder }
    if unsafe URLMistake(url) != nil { return .slip }
    return unsafe isFile(url) ? .relative : nil
  }

  /// Returns the rest of a URL from its host on; nil if it does not begin with a prefix and a host,
  /// which may also be in brackets, or not in ASCII.
  private static func hostBehindPrefix(of url: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    guard let prefix = prefixes.first(where: { unsafe url.begins(with: $0) }) else { return nil }
    let rest = unsafe UnsafeRawBufferPointer(rebasing: url.dropFirst(prefix.utf8CodeUnitCount))
    guard let host = unsafe rest.first else { return nil }
    return unsafe host.isLetterASCII || host.decimalDigit != nil || host == UInt8(ascii: "[") || host >= 0x80 ? rest : nil
  }

  /// Returns whether a text is the path of a file with a media extension.
  private static func isFile(_ path: UnsafeRawBufferPointer) -> Bool {
    guard path.count <= 1_024, unsafe path.allSatisfy({ $0 > 0x20 && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "\"") }) else {
      return false
    }
    return unsafe hasMediaExtension(path, besidesHost: false)
  }

  /// Returns whether the last part of the path has the extension of a media type.
  ///
  /// - Parameters:
  ///   - url: the URL from its host on.
  ///   - besidesHost: whether it begins with a host, which has no extension.
  private static func hasMediaExtension(_ url: UnsafeRawBufferPointer, besidesHost: Bool = true) -> Bool {
    var end = 0
    while unsafe end < url.count && url[end] > 0x20 && url[end] != UInt8(ascii: "?") && url[end] != UInt8(ascii: "#") { end += 1 }
    var dot = end - 1
    while unsafe dot >= max(0, end - 9) && (url[dot].isLetterASCII || url[dot].decimalDigit != nil) { dot -= 1 }
    guard dot >= max(0, end - 9), dot + 1 < end, unsafe url[dot] == UInt8(ascii: "."),
      unsafe !besidesHost || UnsafeRawBufferPointer(rebasing: url[..<dot]).distance(behind: UInt8(ascii: "/")) != nil
    else { return false }
    let name = unsafe String(unsafeUninitializedCapacity: end - dot - 1) { bytes in
      for index in bytes.indices { unsafe bytes[index] = url[dot + 1 + index].lowercasedASCII }
      return bytes.count
    }
    return HintedType(fileExtension: name) != nil
  }

  private static func isNamed(_ name: UnsafeRawBufferPointer?, _ words: [StaticString]) -> Bool {
    // A longer name is nobody's, and would be compared for long.
    guard let name = unsafe name, name.count <= longestName else { return false }
    return words.contains { unsafe name.contains($0) }
  }

  /// Returns whether the names say that a URL without an extension is a picture.
  private static func isPicture(_ names: Names) -> Bool {
    if unsafe isNamedPicture(names.own) { return unsafe !isNamed(names.own, clicks) }
    return unsafe names.own != nil && isNamedPicture(names.outer) && !isNamed(names.own, targets) && !isNamed(names.own, taps)
  }

  private static func isNamedPicture(_ name: UnsafeRawBufferPointer?) -> Bool {
    if unsafe isNamed(name, pictures) { return true }
    guard let name = unsafe name, name.count <= longestName else { return false }
    return shortPictures.contains { unsafe name.hasWord($0) }
  }
}

extension UnsafeRawBufferPointer {
  /// Returns whether the bytes begin with a word in lower case. ASCII case is ignored.
  fileprivate func begins(with word: StaticString) -> Bool {
    unsafe holds(word, at: 0)
  }

  /// Returns whether the bytes contain a word in lower case. ASCII case is ignored.
  fileprivate func contains(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return (0...count - word.utf8CodeUnitCount).contains { unsafe holds(word, at: $0) }
  }

  /// Returns whether a word of a name in snake case or camel case is the word in lower case, or its plural.
  fileprivate func hasWord(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return (0...count - word.utf8CodeUnitCount).contains { start in
      guard unsafe holds(word, at: start),
        unsafe start == 0 || !self[start - 1].isLetterASCII || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self[start])
      else { return false }
      var end = start + word.utf8CodeUnitCount
      if end < count, unsafe self[end] == UInt8(ascii: "s") { end += 1 }
      return unsafe end == count || !self[end].isLetterASCII || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self[end])
    }
  }

  private func holds(_ word: StaticString, at start: Int) -> Bool {
    guard count - start >= word.utf8CodeUnitCount else { return false }
    for index in 0..<word.utf8CodeUnitCount where unsafe self[start + index].lowercasedASCII != word.utf8Start[index] { return false }
    return true
  }
}
