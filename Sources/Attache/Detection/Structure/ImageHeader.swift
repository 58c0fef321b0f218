/// The headers of JPEG, PNG and GIF, which must be complete and followed by what the format allows.
enum ImageHeader {
  /// A JPEG has a frame header (SOF) before its first scan. A picture that is cut off after that is
  /// still a JPEG by its bytes.
  ///
  /// Source: ITU-T T.81, annex B. JPEG-LS (T.87, frame header F7) begins with the same three bytes.
  static func jpeg(_ head: FileHead) -> HeadVerdict {
    guard head.byte(at: 0) == 0xFF, head.byte(at: 1) == 0xD8 else { return .broken }
    var offset = 2
    while let fill = head.byte(at: offset), let code = head.byte(at: offset + 1) {
      // Bytes that are no marker are skipped, as in ``JPEGWalk``.
      guard fill == 0xFF, code != 0xFF, code != 0 else {
        offset += 1
        continue
      }
      if code == 0xF7 { return .foreign }
      guard JPEGMarker.mayPrecedeScan(code), code != 0xDA else { return .broken }
      if JPEGMarker.isAlone(code) {
        offset += 2
        continue
      }
      guard let length = head.big16(at: offset + 2) else { return head.beyond(.jpeg) }
      guard length >= 2 || JPEGMarker.isSkipped(code) else { return .broken }
      offset += 2 + max(2, length)
      if JPEGMarker.isFrameHeader(code) { return offset <= head.count ? .type(.jpeg) : head.beyond(.jpeg) }
    }
    return head.beyond(.jpeg)
  }

  /// A PNG has the signature and a complete IHDR. An animated PNG begins in the same way.
  ///
  /// Source: https://www.w3.org/TR/png-3/
  static func png(_ head: FileHead) -> HeadVerdict {
    if isForApp(head) { return .foreign }
    guard head.big32(at: 8) == 13, head.holds("IHDR", at: 12) else { return .broken }
    guard let width = head.big32(at: 16), let height = head.big32(at: 20), width > 0, height > 0 else { return .broken }
    let endOfHeader = 33
    return head.count >= endOfHeader ? .type(.png) : .broken
  }

  /// Xcode optimises the PNGs of an app: their first chunk is CgBI, and their data has neither the
  /// header nor the order of colours of PNG. Only the app's own system reads them.
  static func isForApp(_ head: FileHead) -> Bool {
    head.holds("CgBI", at: 12)
  }

  /// A GIF has the screen descriptor, its colour table, and an image, an extension or the trailer.
  ///
  /// Source: https://www.w3.org/Graphics/GIF/spec-gif89a.txt
  static func gif(_ head: FileHead) -> HeadVerdict {
    guard head.holds("GIF87a", at: 0) || head.holds("GIF89a", at: 0) else { return .broken }
    guard let packed = head.byte(at: 10), head.count >= 13 else { return .broken }
    let colourTable = packed & 0x80 == 0 ? 0 : 3 << (packed & 7 + 1)
    guard let introducer = head.byte(at: 13 + colourTable) else { return head.beyond(.gif) }
    return [0x21, 0x2C, 0x3B].contains(introducer) ? .type(.gif) : .broken
  }
}
