/// What the head shows of an ISO base media file's index (`moov`): where it is, and what its tracks
/// hold.
///
/// Source: ISO/IEC 14496-12, 4.2 (boxes), 8.2.2 (`mvhd`) and 8.4.3 (`hdlr`).
struct ISOIndex {
  enum Position: Equatable {
    /// The head shows where it begins, and all of it when the file is whole.
    case seen
    /// It lies behind the head.
    case beyond
    /// The boxes end without one, or are none.
    case missing
  }

  private(set) var place = Position.missing
  /// The handlers of the tracks seen, `soun` and `vide` among them, big-endian.
  private(set) var handlers: [Int] = []
  /// Tracks, as the next free number in `mvhd` says.
  private var trackCount: Int?
  private var isWholeIndexSeen = false

  private static let soun = 0x736F_756E
  private let head: FileHead

  init(_ head: FileHead) {
    self.head = head
    var offset = 0
    while let box = Box(head, at: offset, limit: .max) {
      if box.end > head.count || head.holds("moov", at: box.name) {
        readIndex(box)
        return
      }
      offset = box.end
    }
    // A box header may itself be cut by the end of the head.
    place = offset > 0 && !head.isWhole && offset + 16 > head.count ? .beyond : .missing
  }

  /// Whether every track is known, and all are sound: when the head ends within the index, `mvhd`
  /// must account for them.
  var isSoundAlone: Bool {
    !handlers.isEmpty && handlers.allSatisfy { $0 == Self.soun } && (isWholeIndexSeen || handlers.count == trackCount)
  }

  private mutating func readIndex(_ box: Box) {
    isWholeIndexSeen = box.end <= head.count
    guard head.holds("moov", at: box.name), isWholeIndexSeen || !head.isWhole else {
      place = .beyond
      return
    }
    place = .seen
    forEachBox(in: box) { index, child in
      if index.head.holds("mvhd", at: child.name) {
        index.trackCount = index.head.big32(at: child.end - 4).map { $0 - 1 }
      } else if index.head.holds("trak", at: child.name) {
        index.readTrack(child)
      }
    }
  }

  private mutating func readTrack(_ track: Box) {
    forEachBox(in: track) { index, media in
      guard index.head.holds("mdia", at: media.name) else { return }
      index.forEachBox(in: media) { index, box in
        guard index.head.holds("hdlr", at: box.name), let handler = index.head.big32(at: box.content + 8) else { return }
        index.handlers.append(handler)
      }
    }
  }

  private mutating func forEachBox(in parent: Box, _ body: (inout ISOIndex, Box) -> Void) {
    var offset = parent.content
    while offset < parent.end, let box = Box(head, at: offset, limit: parent.end) {
      body(&self, box)
      offset = box.end
    }
  }

  /// One box: where its name, its content and its end are.
  private struct Box {
    var name: Int
    var content: Int
    var end: Int

    /// Nil where the bytes are no box or are not there. Size 1 means that 64 bits follow; size 0
    /// means to the end of the file.
    init?(_ head: FileHead, at offset: Int, limit: Int) {
      guard let short = head.big32(at: offset), head.big32(at: offset + 4) != nil else { return nil }
      name = offset + 4
      content = offset + 8
      switch short {
      case 0: end = limit
      case 1:
        guard let high = head.big32(at: offset + 8), let low = head.big32(at: offset + 12), high < 1 << 16 else { return nil }
        content = offset + 16
        end = offset + (high << 32 | low)
      default: end = offset + short
      }
      guard end >= content, end <= limit else { return nil }
    }
  }
}
