/// What the head shows of the index (`moov`) of an ISO base media file: its position, and what its
/// tracks contain.
///
/// Source: ISO/IEC 14496-12, 4.2 (boxes), 8.2.2 (`mvhd`) and 8.4.3 (`hdlr`).
struct ISOIndex {
  enum Position: Equatable {
    /// The head shows where the index begins, and all of it if the file is whole.
    case seen
    /// The index is behind the head.
    case beyond
    /// The boxes end without an index, or are not boxes.
    case missing
  }

  private(set) var place = Position.missing
  /// The handlers of the visible tracks, such as `soun` and `vide`, big-endian.
  private(set) var handlers: [Int] = []
  /// The number of tracks, from the next free number in `mvhd`.
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
    // The end of the head may cut a box header.
    place = offset > 0 && !head.isWhole && offset + 16 > head.count ? .beyond : .missing
  }

  /// Whether every track is known and contains sound. When the head ends within the index, `mvhd`
  /// must confirm the number of tracks.
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

  /// The offsets of the name, the content and the end of one box.
  private struct Box {
    var name: Int
    var content: Int
    var end: Int

    /// Returns nil when the bytes are not a box or are not in the head. Size 1 means that a 64-bit
    /// size follows; size 0 means to the end of the file.
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
