/// A payload of an earlier attache, which stored it in a file name: the number, then fields of a
/// letter and a value each, then the name of the user's file.
///
///     17,p10,qhq3zkw1s0c,a1,f3;cat.json
struct EarlierEntry {
  var id: Int64
  var priority = NewPayload.usualPriority
  /// In microseconds since 1970; nil when it is past.
  var notBefore: Int64?
  /// In microseconds since 1970.
  var expiresAt: Int64?
  /// In microseconds since 1970.
  var enqueuedAt: Int64 = 0
  var attempts: Int64 = 0
  var deaths: Int64 = 0
  var deathsAlone: Int64 = 0
  /// The fence of the last lease.
  var fence: Int64 = 0
  /// The SHA-256 of the key.
  var key: [UInt8]?
  /// The start of the machine that ``until`` belongs to: 16 digits of the SHA-256 of its
  /// identifier.
  var boot: String?
  /// The end of the lease or the delay, in microseconds of the machine's uptime.
  var until: Int64?
  var worker: Int64?
  var isAlone = false
  var result: Result?
  /// The printable name of the dropped file; empty when there was none.
  var name = ""

  /// The result of a payload.
  struct Result {
    var outcome: String
    var reason: String?
    var isDead = false
    var isRead = false
    /// Whether the original is stored beside the output.
    var hasOriginal = false
    var hasHolds = false
    /// In microseconds since 1970.
    var finishedAt: Int64 = 0
  }

  /// Parses a file name. Returns nil for a file that does not belong to the queue.
  init?(_ fileName: FileName) {
    guard let text = fileName.text, let end = text.utf8.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let fields = text.utf8[..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { String($0) ?? "" }
    guard let first = fields.first, let id = Int64(first), id > 0, id < Self.bound else { return nil }
    self.id = id
    name = String(text[text.utf8.index(after: end)...])
    for field in fields.dropFirst() {
      guard let letter = field.utf8.first else { return nil }
      read(letter, String(field.dropFirst()))
    }
  }

  /// Larger numbers are invalid, so that two numbers can be added.
  static let bound: Int64 = 1 << 61
  private static let maximumCount: Int64 = 1_000_000

  private mutating func read(_ letter: UInt8, _ value: String) {
    func number() -> Int64? { Int64(value, radix: 36).map { min(max($0, -Self.bound), Self.bound) } }
    func count() -> Int64 { min(max(number() ?? 0, 0), Self.maximumCount) }
    switch letter {
    case UInt8(ascii: "p"): priority = Int(value, radix: 36) ?? priority
    case UInt8(ascii: "q"): enqueuedAt = number() ?? 0
    case UInt8(ascii: "n"): notBefore = number()
    case UInt8(ascii: "e"): expiresAt = number()
    case UInt8(ascii: "a"): attempts = count()
    case UInt8(ascii: "d"): deaths = count()
    case UInt8(ascii: "s"): deathsAlone = count()
    case UInt8(ascii: "f"): fence = max(0, number() ?? 0)
    case UInt8(ascii: "k"): key = Self.bytes(hexadecimal: value)
    case UInt8(ascii: "b"): boot = value
    case UInt8(ascii: "u"): until = number()
    case UInt8(ascii: "w"): worker = number()
    case UInt8(ascii: "l"): isAlone = true
    case UInt8(ascii: "o"): result = Result(outcome: value)
    case UInt8(ascii: "r"): result?.reason = value
    case UInt8(ascii: "t"): result?.finishedAt = number() ?? 0
    case UInt8(ascii: "x"): result?.isDead = true
    case UInt8(ascii: "m"): result?.isRead = true
    case UInt8(ascii: "c"): result?.hasOriginal = true
    case UInt8(ascii: "h"): result?.hasHolds = true
    default: break
    }
  }

  private static func bytes(hexadecimal text: String) -> [UInt8]? {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    guard digits.count == text.utf8.count, digits.count % 2 == 0 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  // MARK: Its files

  /// The number of payloads that share a folder of results, originals and holds.
  private static let bucket: Int64 = 1_000
  private var bucketName: String { String(id / Self.bucket) }

  /// The path of the output line.
  var line: String { "\(result?.isDead == true ? "dead" : "done")/\(id)\(name.isEmpty ? "" : "-" + name)" }
  /// The path of the original of a payload that has an output without being attached.
  var original: FileName { "originals/\(bucketName)/\(id)" }
  /// The path of the file that lists the holds of the result.
  var holds: FileName { "holds/of/\(bucketName)/\(id)-\(fence)" }
}
