/// The headers of JPEG, PNG and GIF, which must be complete and followed by what the format allows.
enum ImageHeader {
  /// A JPEG has a frame header (SOF) before its first scan. A picture that is cut off after that is
  /// still a JPEG by its bytes.
  ///
  /// Source: ITU-T T.81, annex B. JPEG-LS (T.87, frame header F7) begins with the same three bytes.
  static func jpeg(_ head: FileHead) -> HeadVerdict {
    guard head.byte(at: 0) == 0xFF, head.byte(at: 1) == 0xD8 else { return .broken }
    var offset = 2
    while let fill = head.byte(at: offset), let marker = head.byte(at: offset + 1) {
      guard fill == 0xFF else { return .broken }
      if marker == 0xFF {
        offset += 1
        continue
      }
      if marker == 0xF7 { return .foreign }
      guard isSegmentBeforeScan(marker) else { return .broken }
      guard let high = head.byte(at: offset + 2), let low = head.byte(at: offset + 3) else { return head.beyond(.jpeg) }
      let length = high << 8 | low
      guard length >= 2 else { return .broken }
      offset += 2 + length
      if isFrameHeader(marker) { return offset <= head.count ? .type(.jpeg) : head.beyond(.jpeg) }
    }
    return head.beyond(.jpeg)
  }

  /// SOF0 to SOF15, without the three codes in between that mean DHT, JPG and DAC.
  private static func isFrameHeader(_ marker: Int) -> Bool {
    (0xC0...0xCF).contains(marker) && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
  }

  /// Frame headers, DHT, DAC, DQT, DRI, APP0 to APP15 and COM.
  private static func isSegmentBeforeScan(_ marker: Int) -> Bool {
    switch marker {
    case 0xC0...0xC7, 0xC9...0xCF, 0xDB, 0xDD, 0xE0...0xEF, 0xFE: true
    default: false
    }
  }

  /// A PNG has the signature and a complete IHDR. An animated PNG begins in the same way.
  ///
  /// Source: https://www.w3.org/TR/png-3/
  static func png(_ head: FileHead) -> HeadVerdict {
    guard head.big32(at: 8) == 13, head.holds("IHDR", at: 12) else { return .broken }
    guard let width = head.big32(at: 16), let height = head.big32(at: 20), width > 0, height > 0 else { return .broken }
    let endOfHeader = 33
    return head.count >= endOfHeader ? .type(.png) : .broken
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
