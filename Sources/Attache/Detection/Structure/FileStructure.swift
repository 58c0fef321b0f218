/// Follows the structure of a file as its bytes arrive, and detects whether it is damaged, cut off,
/// or too large a picture.
///
/// It is pure: the result does not depend on how the bytes are split. Nothing is decoded or
/// unpacked. Bytes after a complete file are ignored, because photos carry videos there, and
/// pictures carry archives. Of an MP3, only the first frames are checked. A file whose structure
/// does not mark its end (``marksEnd``) may be cut off unseen.
struct FileStructure {
  private let maximumPixels: Int
  private var walk: any FileWalk
  private var step: WalkStep
  /// The bytes received so far of the field that the walk waits for.
  private var field: [UInt8] = []

  /// - Returns: nil for a type whose structure is not followed.
  init?(of type: MediaType, maximumPixels: Int) {
    switch type {
    case .jpeg: walk = JPEGWalk()
    case .png: walk = PNGWalk()
    case .gif: walk = GIFWalk()
    case .mpeg4, .mpeg4Audio: walk = ISOWalk()
    case .wave, .avi, .aiff: walk = FormWalk()
    case .mp3: walk = MP3Walk()
    case .mpeg, .mpeg2: return nil
    }
    step = walk.firstStep
    self.maximumPixels = maximumPixels
  }

  /// The size of the picture, once it is known.
  var pictureSize: (width: Int, height: Int)? { walk.pictureSize }

  /// Whether a file without a defect is complete. If not, as for an MP3, only the transfer can show
  /// that no byte is missing at its end.
  var marksEnd: Bool { walk.hasOwnEnd }

  /// Reads the next bytes of the file.
  ///
  /// - Returns: the defect, or nil. After a defect, do not pass more bytes.
  mutating func read(_ bytes: UnsafeRawBufferPointer) -> FileDefect? {
    var rest = unsafe bytes
    while let count = unsafe advance(over: rest) {
      unsafe rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      let next = walk.next(FileHead(bytes: field, isWhole: true))
      field.removeAll(keepingCapacity: true)
      if let size = walk.pictureSize, size.width > 0, size.height > maximumPixels / size.width {
        return .tooManyPixels(width: size.width, height: size.height)
      }
      switch next {
      case .success(let step): self.step = step
      case .failure(let defect): return FileDefect(defect)
      }
    }
    return nil
  }

  /// Returns the defect of a file that ends here, or nil.
  func end() -> FileDefect? {
    let missing: Int? =
      switch step {
      case .field(let count): field.isEmpty ? nil : count - field.count
      case .skip(let count): count
      case .search: 1
      case .rest: nil
      }
    if case .rest = step { return nil }
    return walk.end(missing: missing).map(FileDefect.init)
  }

  /// Consumes the bytes that the current step needs.
  ///
  /// - Returns: the number of bytes consumed, or nil when the step needs more.
  private mutating func advance(over bytes: UnsafeRawBufferPointer) -> Int? {
    switch step {
    case .rest: return nil
    case .field(let count):
      let taken = min(count - field.count, bytes.count)
      unsafe field.append(contentsOf: bytes.prefix(taken))
      return field.count == count ? taken : nil
    case .skip(let count):
      let taken = min(count, bytes.count)
      unsafe walk.pass(UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
      step = .skip(count - taken)
      return taken == count ? taken : nil
    case .search(let byte): return unsafe bytes.distance(behind: byte)
    }
  }
}

/// The reason why a file is not stored although its type is known.
enum FileDefect: Equatable, Sendable {
  /// Its structure shows that it is damaged or cut off. The text says where.
  case broken(String)
  /// Its type is not the one that its head indicates. The text says why.
  case foreign(String)
  /// It is a picture with more pixels than allowed.
  case tooManyPixels(width: Int, height: Int)
}

extension FileDefect {
  fileprivate init(_ defect: WalkDefect) {
    self = defect.isForeign ? .foreign(defect.text) : .broken(defect.text)
  }
}

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
