/// Generated media for scenarios: files of any size that are recognised as a type but show nothing.
///
/// Each is a whole file, made from the shortest possible file of its type, with zeros inside or
/// after it. Two are not media: `html` is a page, and `bin` contains only zeros and has no type.
public enum StandIn {
  /// The reason why a stand-in cannot be made.
  public struct Mistake: Error, Hashable, CustomStringConvertible, Sendable {
    /// A sentence for the user.
    public let description: String
  }

  /// The first bytes of a file of each type.
  private static let beginnings: [String: String] = [
    // A start of image, a frame header of 96 × 64 pixels (ITU-T T.81, B.2.2) and the header of a
    // scan.
    "jpg": "ffd8ffc00011080040006003012200021101031101ffda000c03010002110311003f00",
    // 96 × 64 black pixels.
    "png": "89504e470d0a1a0a0000000d49484452000000600000004008020000006a56e559000000294944415478daedc1010d000000c2a0f74f6d"
      + "0e37a00000000000000000000000000000000000803703484000011873399c0000000049454e44ae426082",
    // 48 × 32 blue pixels.
    "gif": "47494638396130002000f0000000008000000021f90400000000002c0000000030002000000226848fa9cbed0fa39cb4da8bb3debcfb0f"
      + "86e24896e689a6eacab6ee0bc7f24cd7f68de7fa5d00003b",
    "aiff": "464f524d0000000041494646434f4d4d000000120001000007d00010400bfa0000000000000053534e44000000000000000000000000",
    "wav": "524946460000000057415645666d74201000000001000100401f0000803e0000020010006461746100000000",
    // Two frames of 64 kbit/s at 44,100 Hz, 208 bytes apart.
    "mp3": "fffb50c0" + String(repeating: "00", count: 204) + "fffb50c0",
    // An index without tracks, and media data up to the end of the file.
    "m4a": "00000018667479704d344120000000004d3441206d703432000000746d6f6f760000006c6d766864000000000000000000000000000003"
      + "e8000000000001000001000000000000000000000000010000000000000000000000000000000100000000000000000000000000004000"
      + "000000000000000000000000000000000000000000000000000000000001000000006d646174",
    "mp4": "00000018667479706d703432000000006d70343269736f6d000000746d6f6f760000006c6d766864000000000000000000000000000003"
      + "e8000000000001000001000000000000000000000000010000000000000000000000000000000100000000000000000000000000004000"
      + "000000000000000000000000000000000000000000000000000000000001000000006d646174",
    "mpg": "000001ba2100010001a19b1d",
    "m2v": "000001b304003023ffffe008000001b5",
    "avi": "5249464600000000415649204c495354440000006864726c6176696838000000400d0300e8800000000000001009000003000000000000"
      + "0002000000000010004000000030000000000000000000000000000000000000004c495354000000006d6f7669",
    // `<!DOCTYPE html><html>`
    "html": "3c21444f43545950452068746d6c3e3c68746d6c3e",
    "bin": "",
  ]

  /// Beginnings for files that are smaller than ``beginnings`` allow: one black pixel.
  private static let shortBeginnings: [String: String] = [
    "png": "89504e470d0a1a0a0000000d4948445200000001000000010100000000376ef9240000000a4944415418196360000000020001b58ae501"
      + "0000000049454e44ae426082",
    "gif": "47494638396101000100800000000000ffffff2c00000000010001000002024401003b",
  ]

  /// The size in bytes from which on there is a stand-in of every type.
  static var longestBeginning: Int {
    beginnings.map { $0.value.utf8.count / 2 + (ends[$0.key]?.count ?? 0) }.max() ?? 0
  }

  /// The last bytes of a file of each type: JPEG has its end of image.
  private static let ends: [String: [UInt8]] = ["jpg": [0xFF, 0xD9]]

  /// The offsets of the lengths of parts that extend to the end of the file, four bytes each.
  private static let lengths: [String: [Int]] = ["aiff": [4, 42], "wav": [4, 40], "avi": [4, 92]]

  /// The maximum size: five times Apple's largest limit, which is enough to be too large.
  static let maximumSize = 250_000_000

  /// The names of the available types, as file extensions.
  public static var names: [String] { beginnings.keys.sorted() }

  /// Returns the bytes of `stand-in-SIZE.ENDING`; nil for a name in another form.
  ///
  /// - Throws: ``Mistake`` for an unknown extension, a size that is too small for its type, or a
  ///   size above 250,000,000 bytes.
  public static func bytes(named name: String) throws(Mistake) -> [UInt8]? {
    guard name.hasPrefix("stand-in-"), let dot = name.lastIndex(of: "."), let size = Int(name[..<dot].dropFirst("stand-in-".count)) else {
      return nil
    }
    return try bytes(ofType: String(name[name.index(after: dot)...]), size: size)
  }

  /// Returns a stand-in of `size` bytes, of the type with this extension.
  ///
  /// - Throws: ``Mistake`` for an unknown extension, a size that is too small for its type, or a
  ///   size above 250,000,000 bytes.
  public static func bytes(ofType ending: String, size: Int) throws(Mistake) -> [UInt8] {
    guard let digits = beginnings[ending] else {
      throw Mistake(description: "there is no stand-in of type \(ending); there are \(names.joined(separator: ", "))")
    }
    let end = ends[ending] ?? []
    let isShort = size < digits.utf8.count / 2 + end.count
    let head = [UInt8](hexadecimal: isShort ? shortBeginnings[ending] ?? digits : digits) ?? []
    let shortest = head.count + end.count
    guard size <= maximumSize else { throw Mistake(description: "a stand-in has at most \(maximumSize) bytes") }
    guard size >= shortest else { throw Mistake(description: "a stand-in of type \(ending) has at least \(shortest) bytes") }
    var bytes = head + [UInt8](repeating: ending == "html" ? UInt8(ascii: " ") : 0, count: size - shortest) + end
    for offset in lengths[ending] ?? [] {
      let length = UInt32(size - offset - 4)
      for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: length >> (ending == "aiff" ? 24 - 8 * index : 8 * index)) }
    }
    return bytes
  }
}
