/// The lines of input by what they say, so that the one which a line of output comes from is found
/// quickly.
///
/// Lines that nobody can tell apart by what becomes of them are one kind: those with the same
/// bytes, or, where a line may be written anew, those that say the same.
struct PayloadIndex {
  private enum Key: Hashable {
    case text([UInt8])
    case value(JSONValue)
  }

  /// The kind of each line of input.
  let kinds: [Int]
  private let freedom: PromiseCheck.Freedom
  private let place: OutputPlace
  /// The first line of each kind.
  private let texts: [[UInt8]]
  private let values: [JSONValue?]
  private let kindByKey: [Key: Int]
  /// Kinds by the rarest thing that they say.
  private var kindsByLeaf: [Int: [Int]] = [:]
  /// Kinds that say nothing, such as `{}`: any object holds them.
  private var emptyKinds: [Int] = []

  init(_ input: [[UInt8]], freedom: PromiseCheck.Freedom, place: OutputPlace = OutputPlace()) {
    self.place = place
    var (kinds, texts, values, kindByKey) = ([Int](), [[UInt8]](), [JSONValue?](), [Key: Int]())
    for line in input {
      let value = try? JSONReader.read(line[...])
      let key = Self.key(line, value, freedom)
      let kind = kindByKey[key] ?? texts.count
      if kind == texts.count {
        kindByKey[key] = kind
        texts.append(line)
        values.append(value?.compared(by: place))
      }
      kinds.append(kind)
    }
    (self.kinds, self.texts, self.values, self.kindByKey, self.freedom) = (kinds, texts, values, kindByKey, freedom)
    file()
  }

  private static func key(_ text: [UInt8], _ value: JSONValue?, _ freedom: PromiseCheck.Freedom) -> Key {
    switch freedom {
    case .members: value.map { .value($0) } ?? .text(text)
    case .splice: .text(text)
    }
  }

  private mutating func file() {
    let leaves = values.map { $0?.leaves ?? [] }
    var frequency: [Int: Int] = [:]
    for leaf in leaves.joined() { frequency[leaf, default: 0] += 1 }
    for (kind, leaves) in leaves.enumerated() {
      if let rarest = leaves.min(by: { frequency[$0, default: 0] < frequency[$1, default: 0] }) {
        kindsByLeaf[rarest, default: []].append(kind)
      } else if values[kind]?.isObject == true {
        emptyKinds.append(kind)
      }
    }
  }

  /// The kind of line that an output line is, or holds the members of; of several, the one that it
  /// is rightly made of, then the one that says most.
  func kind(of line: ArraySlice<UInt8>) -> Int? {
    let (text, value) = (Array(line), try? JSONReader.read(line))
    if let kind = kindByKey[Self.key(text, value, freedom)] { return kind }
    guard let value = value?.compared(by: place) else { return nil }
    let candidates = Set(value.leaves).flatMap { kindsByLeaf[$0] ?? [] }
    return candidates.filter { kind in values[kind].map { value.holds($0) } == true }.max { weight($0, line) < weight($1, line) }
  }

  /// Whether a line of output may come from a line that says nothing. Any object may: so it does
  /// only where no other line is meant.
  func isVague(_ kind: Int, for line: ArraySlice<UInt8>) -> Bool {
    guard emptyKinds.contains(kind), freedom.allows(line, from: texts[kind]), let original = values[kind] else { return false }
    return (try? JSONReader.read(line))?.compared(by: place).holds(original) == true
  }

  /// What says more weighs more; of equals, the first line.
  private func weight(_ kind: Int, _ line: ArraySlice<UInt8>) -> (Int, Int, Int) {
    (freedom.allows(line, from: texts[kind]) ? 1 : 0, texts[kind].count, -kind)
  }
}

extension JSONValue {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }

  /// A number for everything that is said, with its place. What holds a value has all of its
  /// leaves.
  fileprivate var leaves: [Int] {
    var leaves: [Int] = []
    addLeaves(under: 0, to: &leaves)
    return leaves
  }

  private func addLeaves(under place: Int, to leaves: inout [Int]) {
    switch self {
    case .object(let object):
      for (name, value) in object.members { value.addLeaves(under: Self.hash(place, name), to: &leaves) }
    case .array(let elements):
      leaves.append(Self.hash(place, elements.count))
      for (index, value) in elements.enumerated() { value.addLeaves(under: Self.hash(place, index), to: &leaves) }
    case .null, .boolean, .number, .string: leaves.append(Self.hash(place, self))
    }
  }

  private static func hash(_ place: Int, _ part: some Hashable) -> Int {
    var hasher = Hasher()
    hasher.combine(place)
    hasher.combine(part)
    return hasher.finalize()
  }
}
