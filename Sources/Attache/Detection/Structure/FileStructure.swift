/// Why a file is not stored although its type is known.
enum FileDefect: Equatable, Sendable {
  /// Its own structure says that it is damaged or cut off; the text says where.
  case broken(String)
  /// It is of another type than its head let expect; the text says why.
  case foreign(String)
  /// It is a picture of more pixels than are allowed.
  case tooManyPixels(width: Int, height: Int)
}

/// Follows a file's own structure while its bytes stream by, and says whether it is damaged, cut
/// off, or too large a picture.
///
/// It is pure: fed the same bytes in any pieces it gives the same answer. Nothing is decoded or
/// unpacked. What follows a complete file is not looked at: photos carry films, and archives
/// pictures, behind them. Of MP3 the first frames are looked at; MP3 and MPEG have no end that
/// could be missed.
struct FileStructure {
  private let maximumPixels: Int
  private var walk: any FileWalk
  private var step: WalkStep
  /// What there is of the field that the walk waits for.
  private var field: [UInt8] = []

  /// - Returns: nil for a type without a structure to follow.
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

  /// Follows the next bytes of the file.
  ///
  /// - Returns: what is wrong; nothing more is to be read then.
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

  /// What is wrong with a file that ends here.
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

  /// Takes what the step at hand wants.
  ///
  /// - Returns: how many bytes it took, or nil when it wants more than there are.
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

/// What a walk wants next of a file.
enum WalkStep: Equatable {
  /// So many bytes, together.
  case field(Int)
  /// So many bytes, which do not matter, to be passed by.
  case skip(Int)
  /// All bytes up to and with the next one of this value.
  case search(UInt8)
  /// Nothing more: the file is complete.
  case rest
}

/// What is wrong with a file, in words.
struct WalkDefect: Error, Equatable {
  var text: String
  /// Whether the file is of another type, instead of damaged.
  var isForeign: Bool

  init(_ text: String, isForeign: Bool = false) {
    (self.text, self.isForeign) = (text, isForeign)
  }
}

extension FileDefect {
  fileprivate init(_ defect: WalkDefect) {
    self = defect.isForeign ? .foreign(defect.text) : .broken(defect.text)
  }
}

/// Reads the structure of one format: it says what it wants of the file, is given it, and says what
/// it wants next.
protocol FileWalk {
  var firstStep: WalkStep { get }
  /// The size of the picture, as far as it is known.
  var pictureSize: (width: Int, height: Int)? { get }
  /// Takes the field that was wanted, or nothing behind what was to be skipped or found.
  mutating func next(_ field: FileHead) -> Result<WalkStep, WalkDefect>
  /// Sees bytes that were to be skipped.
  mutating func pass(_ bytes: UnsafeRawBufferPointer)
  /// What is wrong with a file that ends here.
  ///
  /// - Parameter missing: the bytes missing of the step at hand; nil where the file ends before its
  ///   first.
  func end(missing: Int?) -> WalkDefect?
}

extension FileWalk {
  var pictureSize: (width: Int, height: Int)? { nil }
  mutating func pass(_ bytes: UnsafeRawBufferPointer) {}
}
