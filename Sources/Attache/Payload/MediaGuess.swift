/// Guesses whether a string of a payload is the URL of media, by its bytes and its name alone.
enum MediaGuess {
  /// Names of members whose URL is mostly a target for a tap: they count only with an extension.
  private static let targets: [StaticString] = ["url", "link", "href", "icon", "click", "action"]
  private static let pictures: [StaticString] = ["image", "picture", "photo", "media", "attachment", "thumbnail", "hero"]
  /// The longest name of a member that is compared, in bytes.
  private static let longestName = 256
  private static let prefixes: [StaticString] = ["https://", "http://", "//"]
  private static let dataKinds: [StaticString] = ["image/", "audio/", "video/"]

  /// The names of the members that have a string: its own, also through arrays, and that around it.
  @unsafe
  struct Names {
    var own: UnsafeRawBufferPointer?
    var outer: UnsafeRawBufferPointer?
  }

  /// Returns whether a line may have such a URL; false for most lines that have none. It takes a
  /// small part of the time of a walk through the values.
  static func mayHoldURL(_ line: UnsafeRawBufferPointer) -> Bool {
    // A slash or a letter may be written as an escape, and `data:;base64,` needs no slash.
    guard unsafe line.distance(behind: UInt8(ascii: "\\")) == nil, unsafe line.distance(behind: UInt8(ascii: ";")) == nil
    else { return true }
    var rest = 0
    while let distance = unsafe UnsafeRawBufferPointer(rebasing: line[rest...]).distance(behind: UInt8(ascii: "/")) {
      rest += distance
      if unsafe mayBeginURL(line, before: rest - 1) { return true }
    }
    return false
  }

  /// Returns whether a slash may be one of the beginning of such a URL: whether the string around it
  /// begins as one, or too far away.
  private static func mayBeginURL(_ line: UnsafeRawBufferPointer, before slash: Int) -> Bool {
    // The longest beginning up to its slash is `data:image`.
    let start = max(0, slash - 16)
    let quote = unsafe line[start..<slash].lastIndex(of: UInt8(ascii: "\""))
    guard let quote else { return unsafe line[start] <= 0x20 }
    return unsafe quote + 1 == slash || mayBeURL(UnsafeRawBufferPointer(rebasing: line[(quote + 1)...]))
  }

  /// Returns whether the text begins as such a URL does; false for most strings.
  static func mayBeURL(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let first = unsafe start(of: text) else { return false }
    let byte = unsafe text[first].lowercasedASCII
    return byte == UInt8(ascii: "h") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "d")
  }

  private static func start(of text: UnsafeRawBufferPointer) -> Int? {
    var start = 0
    while start < text.count, unsafe text[start] <= 0x20 { start += 1 }
    return start < text.count ? start : nil
  }

  /// Returns whether the text is a URL with http(s), `//` or `data:` that has a media extension, or
  /// has none but stands under a word for a picture.
  ///
  /// - Parameters:
  ///   - text: the string, without escapes.
  ///   - names: few strings need them.
  ///   - besidesTargets: whether a name that is a target for a tap never counts.
  static func isMedia(_ text: UnsafeRawBufferPointer, _ names: @autoclosure () -> Names, besidesTargets: Bool = false) -> Bool {
    guard let start = unsafe start(of: text) else { return false }
    let url = unsafe UnsafeRawBufferPointer(rebasing: text[start...])
    if unsafe url.begins(with: "data:") {
      let content = unsafe UnsafeRawBufferPointer(rebasing: url.dropFirst(5))
      return unsafe dataKinds.contains { unsafe content.begins(with: $0) } || isPicture(names())
    }
    guard let prefix = prefixes.first(where: { unsafe url.begins(with: $0) }) else { return false }
    let rest = unsafe UnsafeRawBufferPointer(rebasing: url.dropFirst(prefix.utf8CodeUnitCount))
    // A host, also one in brackets, or not in ASCII.
    guard let host = unsafe rest.first, host.isLetterASCII || host.decimalDigit != nil || host == UInt8(ascii: "[") || host >= 0x80
    else { return false }
    return unsafe hasMediaExtension(rest) ? !(besidesTargets && isTarget(names())) : isPicture(names())
  }

  /// Returns whether such a URL has its media in itself.
  static func isData(_ text: UnsafeRawBufferPointer) -> Bool {
    unsafe text.first { $0 > 0x20 }.map { $0.lowercasedASCII == UInt8(ascii: "d") } ?? false
  }

  /// Returns whether the last part of the path has the extension of a media type.
  ///
  /// - Parameter url: the URL from its host on.
  private static func hasMediaExtension(_ url: UnsafeRawBufferPointer) -> Bool {
    let end = unsafe url.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") || $0 <= 0x20 } ?? url.count
    let letters = unsafe url[..<end].suffix(9)
    guard let dot = unsafe letters.lastIndex(of: UInt8(ascii: ".")), dot + 1 < end, unsafe url[..<dot].contains(UInt8(ascii: "/")),
      unsafe url[(dot + 1)..<end].allSatisfy({ $0.isLetterASCII || $0.decimalDigit != nil })
    else { return false }
    let name = unsafe String(unsafeUninitializedCapacity: end - dot - 1) { bytes in
      for index in bytes.indices { unsafe bytes[index] = url[dot + 1 + index].lowercasedASCII }
      return bytes.count
    }
    return HintedType(fileExtension: name) != nil
  }

  private static func isTarget(_ names: Names) -> Bool {
    guard let own = unsafe names.own, own.count <= longestName else { return false }
    return targets.contains { unsafe own.contains($0) }
  }

  /// Returns whether the names say that a URL without an extension is a picture.
  private static func isPicture(_ names: Names) -> Bool {
    // A longer name is nobody's, and would be compared for long.
    guard let own = unsafe names.own, own.count <= longestName else { return false }
    if pictures.contains(where: { unsafe own.contains($0) }) { return true }
    guard let outer = unsafe names.outer, outer.count <= longestName, unsafe !isTarget(names) else { return false }
    return pictures.contains { unsafe outer.contains($0) }
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

  private func holds(_ word: StaticString, at start: Int) -> Bool {
    guard count - start >= word.utf8CodeUnitCount else { return false }
    for index in 0..<word.utf8CodeUnitCount where unsafe self[start + index].lowercasedASCII != word.utf8Start[index] { return false }
    return true
  }
}
