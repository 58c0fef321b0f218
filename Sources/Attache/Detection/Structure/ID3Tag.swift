/// An ID3v2 tag: its version and its length. Text that begins with "ID3" is not a tag.
///
/// Source: https://id3.org/id3v2.4.0-structure, section 3.1, and its predecessors 2.2 and 2.3.
struct ID3Tag: Equatable {
  /// 2, 3 or 4.
  var version: Int
  /// The length in bytes, including the header of 10 bytes and the footer of 10 bytes, if any.
  var length: Int

  /// Reads the header of 10 bytes and the start of the first frame's name. Returns nil when they
  /// are not those of a tag.
  init?(_ head: FileHead, at offset: Int) {
    guard head.holds("ID3", at: offset), let size = head.big32(at: offset + 6), size & 0x8080_8080 == 0 else { return nil }
    guard let version = head.byte(at: offset + 3), let revision = head.byte(at: offset + 4), let flags = head.byte(at: offset + 5) else {
      return nil
    }
    let definedFlags = [2: 0xC0, 3: 0xE0, 4: 0xF0]
    guard let allowed = definedFlags[version], revision != 0xFF, flags & ~allowed == 0 else { return nil }
    self.version = version
    let syncsafe = size & 0x7F | size >> 1 & 0x3F80 | size >> 2 & 0x1F_C000 | size >> 3 & 0xFE0_0000
    let hasFooter = version == 4 && flags & 0x10 != 0
    length = 10 + syncsafe + (hasFooter ? 10 : 0)
    let hasExtendedHeader = version > 2 && flags & 0x40 != 0
    guard hasExtendedHeader || syncsafe == 0 || Self.isFrameOrPadding(head.byte(at: offset + 10)) else { return nil }
  }

  /// A frame's name begins with a capital letter; padding is zero. A byte past the head may be
  /// either.
  private static func isFrameOrPadding(_ byte: Int?) -> Bool {
    guard let byte else { return true }
    return byte == 0 || (0x41...0x5A).contains(byte)
  }

  /// Returns the offset after the tags at the start of a file, and after the zero bytes that some
  /// writers add behind them. Returns 0 without a tag, and nil when the offset is past the head.
  static func end(in head: FileHead) -> Int? {
    var offset = 0
    while let tag = ID3Tag(head, at: offset) { offset += tag.length }
    guard offset > 0 else { return 0 }
    while head.byte(at: offset) == 0 { offset += 1 }
    return offset < head.count ? offset : nil
  }
}
