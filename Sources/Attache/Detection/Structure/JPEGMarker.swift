/// The codes of JPEG's markers, which follow a byte FF.
///
/// Source: ITU-T T.81, table B.1.
enum JPEGMarker {
  /// SOF0 to SOF15, without the three codes in between that mean DHT, JPG and DAC.
  static func isFrameHeader(_ code: Int) -> Bool {
    (0xC0...0xCF).contains(code) && code != 0xC4 && code != 0xC8 && code != 0xCC
  }

  /// APP0 to APP15 and COM, which decoders skip. libjpeg takes a length below 2 as an empty segment.
  static func isSkipped(_ code: Int) -> Bool {
    (0xE0...0xEF).contains(code) || code == 0xFE
  }

  /// Codes without a length: TEM and restarts. An FF00 outside of data is two bytes of anything.
  static func isAlone(_ code: Int) -> Bool {
    code <= 0x01 || (0xD0...0xD7).contains(code)
  }

  /// Whether a segment of quantisation tables (DQT), Huffman tables (DHT) or a restart interval (DRI)
  /// holds whole tables and nothing else.
  static func holdsWholeTables(_ content: FileHead, _ code: Int) -> Bool {
    guard code != 0xDD else { return content.count == 2 }
    var offset = 0
    while let table = content.byte(at: offset) {
      if code == 0xDB {
        guard table & 0x0F < 4 else { return false }
        offset += table >> 4 == 0 ? 65 : 129
      } else {
        guard table & 0xEF < 4, offset + 17 <= content.count else { return false }
        offset += 17 + content.bytes[(offset + 1)..<(offset + 17)].reduce(0) { $0 + Int($1) }
      }
    }
    return offset == content.count
  }

  /// Whether libjpeg goes on after this code before the first scan. It refuses others, such as a
  /// second start of a picture.
  static func mayPrecedeScan(_ code: Int) -> Bool {
    switch code {
    case 0xC4, 0xCC, 0xDA...0xDD: true
    default: isFrameHeader(code) || isSkipped(code) || isAlone(code)
    }
  }
}
