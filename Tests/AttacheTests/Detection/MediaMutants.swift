import AttacheTesting
@testable import Attache

/// Heads of files made from those of Fixtures/media, the same in every run: bytes flipped, spans
/// overwritten, heads truncated, spliced and given another file's brand, and magic numbers of other
/// formats at their offsets.
struct MediaMutants {
  private let heads: [[UInt8]]
  private var random: SeededGenerator

  init(of fixtures: [MediaFixture], seed: UInt64) throws {
    heads = try fixtures.map { Array(try $0.bytes.prefix(TypeDetector.prefixLength)) }.filter { !$0.isEmpty }
    random = SeededGenerator(seed: seed)
  }

  mutating func next() -> [UInt8] {
    var head = anyHead()
    for _ in 0..<Int.random(in: 1...2, using: &random) { change(&head) }
    return head
  }

  private mutating func anyHead() -> [UInt8] {
    heads.randomElement(using: &random) ?? [0]
  }

  private mutating func change(_ head: inout [UInt8]) {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: flip(&head)
    case 1: overwrite(&head)
    case 2: head.removeLast(Int.random(in: 0..<head.count, using: &random))
    case 3: splice(&head)
    case 4: rebrand(&head)
    default: graft(&head)
    }
  }

  /// Most headers are at the start.
  private mutating func place(in head: [UInt8]) -> Int {
    Int.random(in: 0..<(Bool.random(using: &random) ? min(64, head.count) : head.count), using: &random)
  }

  private mutating func flip(_ head: inout [UInt8]) {
    for _ in 0..<Int.random(in: 1...8, using: &random) { head[place(in: head)] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
  }

  private mutating func overwrite(_ head: inout [UInt8]) {
    let byte = [0, 0xFF, 0x20, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
    let start = place(in: head)
    for index in start..<min(head.count, start + Int.random(in: 1...64, using: &random)) { head[index] = byte }
  }

  private mutating func splice(_ head: inout [UInt8]) {
    let other = anyHead()
    let start = place(in: head)
    if start < other.count { head.replaceSubrange(start..., with: other[start...]) }
  }

  private mutating func rebrand(_ head: inout [UInt8]) {
    let other = anyHead()
    let part = [0..<4, 4..<8, 8..<12, 0..<12, 12..<16].randomElement(using: &random) ?? 0..<4
    if part.upperBound <= min(head.count, other.count) { head.replaceSubrange(part, with: other[part]) }
  }

  private mutating func graft(_ head: inout [UInt8]) {
    guard let (offset, bytes) = Self.magic.randomElement(using: &random), offset + bytes.count <= head.count else { return }
    head.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  /// Magic numbers of other formats, and where libmagic looks for them: the plain comparisons of
  /// its own database, and a few others.
  static let magic =
    MagicDatabase.magic
    + [
      (4, "ftypheic"), (4, "ftypavif"), (4, "ftypqt  "), (8, "WEBPVP8 "), (40, "P12.3456.7890.1"), (148, "0012345\0"),
    ].map { ($0, Array($1.utf8)) } + [
      (11, [0, 2]), (17, [0xBF, 0, 6, 0xB9, 0, 1]), (21, [0xF8]), (34, [0x4C, 0x50]), (254, [0x55, 0xAA]),
    ]
}
