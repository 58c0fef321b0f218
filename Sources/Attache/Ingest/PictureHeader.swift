/// The number of pixels that a picture claims in its first bytes.
///
/// It decides a picture's turn and how long its conversion may take, nothing else: the bytes are a
/// stranger's, and the converter reads the picture itself. A picture that claims too little is
/// charged for the time that it took.
enum PictureHeader {
  /// Returns the number of pixels, with all frames that are in `bytes`; nil if they do not say.
  ///
  /// - Parameter bytes: the first bytes of the file, as many as are at hand.
  static func pixels(of format: PictureFormat, in bytes: [UInt8]) -> Int? {
    let size: (width: Int, height: Int, frames: Int)? =
      switch format {
      case .webp: webp(bytes)
      case .heic, .avif, .heif: heif(bytes)
      case .tiff: tiff(bytes)
      case .jpeg, .png, .gif: nil
      }
    guard let size, size.width > 0, size.height > 0 else { return nil }
    let (frame, overflows) = size.width.multipliedReportingOverflow(by: size.height)
    let (all, overflowsAgain) = frame.multipliedReportingOverflow(by: max(1, size.frames))
    return overflows || overflowsAgain ? .max : all
  }

  /// RIFF container, chunks `VP8 `, `VP8L`, `VP8X` and `ANMF`
  /// (https://developers.google.com/speed/webp/docs/riff_container).
  private static func webp(_ bytes: [UInt8]) -> (Int, Int, Int)? {
    guard let first = text(bytes, 12) else { return nil }
    switch first {
    case "VP8 ":
      guard let width = number(bytes, 26, 2), let height = number(bytes, 28, 2) else { return nil }
      return (width & 0x3FFF, height & 0x3FFF, 1)
    case "VP8L":
      guard let bits = number(bytes, 21, 4) else { return nil }
      return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, 1)
    case "VP8X":
      guard let width = number(bytes, 24, 3), let height = number(bytes, 27, 3) else { return nil }
      return (width + 1, height + 1, frames(bytes))
    default: return nil
    }
  }

  private static func frames(_ bytes: [UInt8]) -> Int {
    var (place, frames) = (12, 0)
    while let kind = text(bytes, place), let length = number(bytes, place + 4, 4) {
      if kind == "ANMF" { frames += 1 }
      place += 8 + length + length % 2
    }
    return frames
  }

  /// The largest `ispe` box: an item of its own for each tile, and one for the whole picture
  /// (ISO/IEC 23008-12, 6.5.3).
  private static func heif(_ bytes: [UInt8]) -> (Int, Int, Int)? {
    var largest: (Int, Int, Int)?
    var place = 0
    let name = [UInt8]("ispe".utf8)
    while let found = bytes[place...].firstIndex(of: name[0]) {
      place = found + 1
      guard bytes[found...].starts(with: name) else { continue }
      guard let width = bigNumber(bytes, found + 8), let height = bigNumber(bytes, found + 12) else { break }
      // Both have 32 bits, so the product fits.
      if width * height > largest.map({ $0.0 * $0.1 }) ?? 0 { largest = (width, height, 1) }
    }
    return largest
  }

  /// The tags ImageWidth and ImageLength of the first directory (TIFF 6.0, section 2).
  private static func tiff(_ bytes: [UInt8]) -> (Int, Int, Int)? {
    guard bytes.count >= 8 else { return nil }
    let isBig = bytes[0] == UInt8(ascii: "M")
    func value(_ place: Int, _ count: Int) -> Int? { number(bytes, place, count, isBig: isBig) }
    guard let directory = value(4, 4), let count = value(directory, 2) else { return nil }
    var (width, height): (Int?, Int?) = (nil, nil)
    for entry in 0..<count {
      let place = directory + 2 + 12 * entry
      guard let tag = value(place, 2), let kind = value(place + 2, 2) else { return nil }
      // 3 is a number of 16 bits, 4 one of 32.
      guard tag == 256 || tag == 257, let size = value(place + 8, kind == 3 ? 2 : 4) else { continue }
      if tag == 256 { width = size } else { height = size }
      if let width, let height { return (width, height, 1) }
    }
    return nil
  }

  private static func text(_ bytes: [UInt8], _ place: Int) -> String? {
    place + 4 <= bytes.count ? String(decoding: bytes[place..<place + 4], as: UTF8.self) : nil
  }

  private static func bigNumber(_ bytes: [UInt8], _ place: Int) -> Int? {
    number(bytes, place, 4, isBig: true)
  }

  private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int, isBig: Bool = false) -> Int? {
    guard place >= 0, place + count <= bytes.count else { return nil }
    let part = bytes[place..<place + count]
    return (isBig ? Array(part) : part.reversed()).reduce(0) { $0 << 8 | Int($1) }
  }
}
