/// A stored and checked file of a known type, with its identifier and options.
public struct Attachment: Hashable, Sendable {
  /// The payload's identifier. If it gives none, the first 16 hexadecimal digits of the SHA-256 of
  /// the source URL.
  public var identifier: UntrustedText
  /// The file in the store.
  public var file: StoredFile
  /// The URL in the payload.
  public var source: UntrustedText
  /// The display options of the attachment.
  public var options: AttachmentOptions

  /// Makes an attachment from its parts.
  public init(identifier: UntrustedText, file: StoredFile, source: UntrustedText, options: AttachmentOptions) {
    self.identifier = identifier
    self.file = file
    self.source = source
    self.options = options
  }
}

/// A complete file in the store, named after its content.
public struct StoredFile: Hashable, Sendable {
  let name: StoreName
  /// The size in bytes.
  public var size: Int
  /// How the file was made of the one that was downloaded; nil if it was downloaded like this.
  public internal(set) var conversion: PictureConversion?
  /// Whether its origin does not want it to be published: the response has `private` or `no-store`,
  /// or a URL on the way looks signed.
  package internal(set) var isPrivate = false

  init(_ name: StoreName, size: Int, conversion: PictureConversion? = nil) {
    (self.name, self.size, self.conversion) = (name, size, conversion)
  }

  /// Makes a file from its hash, type and size.
  ///
  /// - Parameters:
  ///   - sha256: 64 lower-case hexadecimal digits.
  ///   - type: the type, as the bytes show it.
  ///   - size: the size in bytes.
  /// - Returns: nil when `sha256` does not have this form.
  public init?(sha256: String, type: MediaType, size: Int) {
    guard let name = StoreName(hexadecimal: sha256.utf8, type: type) else { return nil }
    self.init(name, size: size)
  }

  /// The SHA-256 of the content, as 64 lower-case hexadecimal digits.
  public var sha256: String { name.sha256 }
  /// The type, as the bytes show it.
  public var type: MediaType { name.type }
  /// The path in the store: two digits of the hash, a slash, the hash, and the type's extension.
  public var relativePath: String { name.path }
}

/// The name of a file in the store. It depends only on the SHA-256 of the content and its type, and
/// contains no text from a payload or an origin.
package struct StoreName: Hashable, Sendable {
  /// The 32 bytes of the hash, big-endian.
  let digest: HashWords
  package let type: MediaType

  /// Makes the name of a file with this hash.
  init(digest: SHA256.Digest, type: MediaType) {
    self.digest = digest.words.bigEndian
    self.type = type
  }

  /// Makes the name of a file from the words of its hash.
  init(words: HashWords, type: MediaType) {
    (digest, self.type) = (words, type)
  }

  /// Parses the name of a file found in the store; returns nil when the store did not make the
  /// name.
  package init?(folder: String, fileName: String) {
    let parts = fileName.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let type = Self.types[String(Substring(parts[1]))], fileName.hasPrefix(folder) else { return nil }
    self.init(hexadecimal: parts[0], type: type)
  }

  /// - Returns: nil when the hash is not 64 lower-case hexadecimal digits.
  init?(hexadecimal: some Collection<UInt8>, type: MediaType) {
    guard hexadecimal.count == 64 else { return nil }
    var (words, word, count) = (HashWords(), UInt64(0), 0)
    for digit in hexadecimal {
      guard let value = Self.value(of: digit) else { return nil }
      word = word << 4 | value
      count += 1
      if count & 15 == 0 { words[count / 16 - 1] = word }
    }
    digest = words
    self.type = type
  }

  /// The hash as 64 lower-case hexadecimal digits.
  var sha256: String { digits(64) }

  /// The folder in the store: the first two digits of the hash.
  var folder: String { digits(2) }

  /// The file name in ``folder``.
  var fileName: String { digits(64, then: "." + type.fileExtension) }

  /// The path in the store.
  var path: String { folder + "/" + fileName }

  /// Appends ``sha256`` to a text.
  func appendSHA256(to text: inout [UInt8]) {
    append(64, to: &text)
  }

  /// Appends ``path`` to a text.
  func appendPath(to text: inout [UInt8]) {
    append(2, to: &text)
    text.append(UInt8(ascii: "/"))
    append(64, to: &text)
    text.append(UInt8(ascii: "."))
    text.append(contentsOf: type.fileExtension.utf8)
  }

  /// Appends the first digits of the hash to a text.
  private func append(_ count: Int, to text: inout [UInt8]) {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { digits in
      unsafe digest.writeDigits(count, to: digits)
      unsafe text.append(contentsOf: UnsafeBufferPointer(rebasing: digits[..<count]))
    }
  }

  /// Returns the first digits of the hash, followed by `ending`.
  private func digits(_ count: Int, then ending: String = "") -> String {
    digest.digits(count, then: ending)
  }

  /// Returns whether a folder of this name is one of the store's hash folders.
  static func isFolder(_ name: String) -> Bool {
    name.utf8.count == 2 && name.utf8.allSatisfy { value(of: $0) != nil }
  }

  private static func value(of digit: UInt8) -> UInt64? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
    default: nil
    }
  }

  private static let types = Dictionary(uniqueKeysWithValues: MediaType.allCases.map { ($0.fileExtension, $0) })
}

extension StoreName {
  /// The maximum number of names in a line. A line of several notifications has up to ten for each.
  private static let maximumNames = 200

  /// Returns the names of stored files in a line, each once, up to 200: `73/7333….jpg`, as they end
  /// the address of a file wherever it is served.
  package static func names(in line: [UInt8]) -> [String] {
    var names: [String] = []
    // A name has 2 digits, a slash, 64 digits, a dot, and an extension.
    var start = line.startIndex
    while names.count < maximumNames, let slash = line[start...].firstIndex(of: UInt8(ascii: "/")) {
      start = slash + 1
      guard slash >= 2, line.count > slash + 66, line[slash + 65] == UInt8(ascii: ".") else { continue }
      let ending = line[(slash + 66)...].prefix {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
      }
      let folder = String(decoding: line[(slash - 2)..<slash], as: UTF8.self)
      let name = String(decoding: line[(slash + 1)..<ending.endIndex], as: UTF8.self)
      guard StoreName(folder: folder, fileName: name) != nil, !names.contains("\(folder)/\(name)") else { continue }
      names.append("\(folder)/\(name)")
    }
    return names
  }
}
