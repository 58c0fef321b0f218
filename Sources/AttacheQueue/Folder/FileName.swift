/// The name of a file, or its path within a folder, in bytes. File systems allow names that are not
/// UTF-8.
struct FileName: Hashable, Sendable, ExpressibleByStringInterpolation {
  let bytes: [UInt8]

  /// - Parameter bytes: without a NUL.
  init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  init(_ text: String) {
    bytes = Array(text.utf8)
  }

  init(stringLiteral text: String) {
    self.init(text)
  }

  /// The name as text; nil when it is not UTF-8.
  var text: String? { String(validating: bytes, as: UTF8.self) }

  /// Returns the path of this name in a folder.
  func inside(_ folder: FileName) -> FileName {
    FileName(bytes: folder.bytes + [UInt8(ascii: "/")] + bytes)
  }

  func appending(_ text: String) -> FileName {
    FileName(bytes: bytes + Array(text.utf8))
  }

  /// The path of the folder that contains this path; nil for a name without a folder.
  var parent: FileName? {
    bytes.lastIndex(of: UInt8(ascii: "/")).map { FileName(bytes: Array(bytes[..<$0])) }
  }

  static func < (one: FileName, other: FileName) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }

  func withPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    let path = bytes.map(CChar.init(bitPattern:)) + [0]
    return unsafe path.withUnsafeBufferPointer { path in
      // Never nil: the array contains at least the NUL.
      unsafe path.baseAddress.map(body) ?? body("")
    }
  }
}
