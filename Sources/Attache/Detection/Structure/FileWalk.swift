/// Reads the structure of one format in steps: it requests a part of the file, receives it, and
/// requests the next part.
protocol FileWalk {
  var firstStep: WalkStep { get }
  /// The size of the picture, once it is known.
  var pictureSize: (width: Int, height: Int)? { get }
  /// Whether the bytes so far show where the file ends.
  var hasOwnEnd: Bool { get }
  /// Receives the requested field, or an empty field after a skip or a search, and returns the next
  /// step.
  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect>
  /// Receives bytes that are skipped.
  mutating func pass(_ bytes: UnsafeRawBufferPointer)
  /// Returns the defect of a file that ends here, or nil.
  ///
  /// - Parameter missing: the number of bytes that the current step still needs; nil when the file
  ///   ends before its first byte.
  func end(missing: Int?) -> WalkDefect?
}

extension FileWalk {
  var pictureSize: (width: Int, height: Int)? { nil }
  mutating func pass(_ bytes: UnsafeRawBufferPointer) {}
}

/// What a walk needs next of a file.
enum WalkStep: Equatable {
  /// This many bytes, passed together.
  case field(Int)
  /// This many bytes, which are skipped.
  case skip(Int)
  /// All bytes up to and including the next one of this value.
  case search(UInt8)
  /// Nothing more. The file is complete.
  case rest
}

/// A defect of a file, as text.
struct WalkDefect: Error, Equatable {
  var text: String
  /// Whether the file is of another type, not damaged.
  var isForeign: Bool

  init(_ text: String, isForeign: Bool = false) {
    (self.text, self.isForeign) = (text, isForeign)
  }
}
