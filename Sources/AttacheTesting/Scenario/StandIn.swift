/// Media made up for scenarios: as many bytes as wanted that are recognised as of a type, and show nothing.
///
/// Each is the shortest beginning that attache takes for its type, with zeros behind it. Two are no media: `html` is a page, and `bin`, zeros alone, is
/// of no type.
public enum StandIn {
  /// Why there is none.
  public struct Mistake: Error, Hashable, CustomStringConvertible, Sendable {
    public let description: String
  }

  private static let endings: [String: String] = [
    // A start of image and a frame header of 96 × 64 pixels (ITU-T T.81, B.2.2).
    "jpg": "ffd8ffc0001108004000600301220002110103110100",
    "png": "89504e470d0a1a0a0000000d49484452000000600000004008020000006a56e559",
    "gif": "47494638396130002000f0000000008000000021",
    "aiff": "464f524d00000fce41494646434f4d4d000000120001000007d00010400bfa00000000000000",
    "wav": "52494646e60f000057415645666d74201000000001000100401f0000803e000002001000",
    // Two frames of 64 kbit/s at 44,100 Hz: 208 bytes from one to the next.
    "mp3": "fffb50c0" + String(repeating: "00", count: 204) + "fffb50c0",
    "m4a": "00000018667479704d344120000000004d3441206d703432000000006d646174",
    "mp4": "00000018667479706d703432000000006d70343269736f6d000000006d646174",
    "mpg": "000001ba2100010001a19b1d",
    "m2v": "000001b304003023ffffe008000001b5",
    "avi": "52494646443e0000415649204c495354bc2200006864726c6176696838000000400d0300e8800000000000001009000003"
      + "000000000000000200000000001000400000003000000000000000000000000000000000000000",
    // `<!DOCTYPE html><html>`
    "html": "3c21444f43545950452068746d6c3e3c68746d6c3e",
    "bin": "",
  ]

  /// Five times Apple's largest limit: enough to be too large.
  private static let maximumSize = 250_000_000

  /// The names of the types that there are, as file endings.
  public static var names: [String] { endings.keys.sorted() }

  /// The bytes of `stand-in-SIZE.ENDING`; nil for a name of another form.
  ///
  /// - Throws: ``Mistake`` for an ending that is not known, or a size that is too small for its type.
  public static func bytes(named name: String) throws(Mistake) -> [UInt8]? {
    guard name.hasPrefix("stand-in-"), let dot = name.lastIndex(of: "."), let size = Int(name[..<dot].dropFirst("stand-in-".count)) else {
      return nil
    }
    return try bytes(ofType: String(name[name.index(after: dot)...]), size: size)
  }

  /// So many bytes of a type, given by its ending.
  public static func bytes(ofType ending: String, size: Int) throws(Mistake) -> [UInt8] {
    guard let digits = endings[ending] else {
      throw Mistake(description: "there is no stand-in of type \(ending); there are \(names.joined(separator: ", "))")
    }
    let head = [UInt8](hexadecimal: digits) ?? []
    // The index of a short MPEG-4 file would have to be in it; where more than is looked at follows, it may come later.
    let shortest = ["mp4", "m4a"].contains(ending) ? 4_097 : head.count
    guard size <= maximumSize else { throw Mistake(description: "a stand-in has at most \(maximumSize) bytes") }
    guard size >= shortest else { throw Mistake(description: "a stand-in of type \(ending) has at least \(shortest) bytes") }
    return head + [UInt8](repeating: ending == "html" ? UInt8(ascii: " ") : 0, count: size - head.count)
  }
}
