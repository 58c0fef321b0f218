/// An index of the lines of input by content, to find the source of a line of output quickly.
///
/// Lines that cannot be distinguished in the output have the same kind: those with the same bytes
/// or, where a line can be reformatted, those with the same value.
struct PayloadIndex {
  private enum Key: Hashable {
    case text([UInt8])
    case value(JSONValue)
  }

  /// The kind of each line of input.
  let kinds: [Int]
  private let allowedChanges: PromiseCheck.AllowedChanges
  private let place: OutputPlace
  /// The first line of each kind.
  private let texts: [[UInt8]]
  private let values: [JSONValue?]
  private let kindByKey: [Key: Int]
  /// The kinds by their rarest leaf.
  private var kindsByLeaf: [Int: [Int]] = [:]
  /// The kinds without leaves, such as `{}`: any object contains them.
  private var emptyKinds: [Int] = []

  init(_ input: [[UInt8]], allowedChanges: PromiseCheck.AllowedChanges, place: OutputPlace = OutputPlace()) {
    self.place = place
    var (kinds, texts, values, kindByKey) = ([Int](), [[UInt8]](), [JSONValue?](), [Key: Int]())
    for line in input {
      let value = try? JSONReader.read(line[...])
      let key = Self.key(line, value, allowedChanges)
      let kind = kindByKey[key] ?? texts.count
      if kind == texts.count {
        kindByKey[key] = kind
        texts.append(line)
        values.append(value?.compared(by: place))
      }
      kinds.append(kind)
    }
    (self.kinds, self.texts, self.values, self.kindByKey, self.allowedChanges) = (kinds, texts, values, kindByKey, allowedChanges)
    file()
  }

  private static func key(_ text: [UInt8], _ value: JSONValue?, _ allowedChanges: PromiseCheck.AllowedChanges) -> Key {
    switch allowedChanges {
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

  /// Returns the kind of the line of input that an output line equals or contains. Of several, it
  /// prefers one of which the output line is an allowed form, then the longest.
  func kind(of line: ArraySlice<UInt8>) -> Int? {
    let (text, value) = (Array(line), try? JSONReader.read(line))
    if let kind = kindByKey[Self.key(text, value, allowedChanges)] { return kind }
    guard let value = value?.compared(by: place) else { return nil }
    let candidates = Set(value.leaves).flatMap { kindsByLeaf[$0] ?? [] }
    return candidates.filter { kind in values[kind].map { value.holds($0) } == true }.max { weight($0, line) < weight($1, line) }
  }

  /// Returns whether a line of output can come from a line without content. This is true of any
  /// object, so it is used only when no other line matches.
  func isVague(_ kind: Int, for line: ArraySlice<UInt8>) -> Bool {
    guard emptyKinds.contains(kind), allowedChanges.allows(line, from: texts[kind]), let original = values[kind] else { return false }
    return (try? JSONReader.read(line))?.compared(by: place).holds(original) == true
  }

  /// Prefers allowed forms, then longer lines, then the first line.
  private func weight(_ kind: Int, _ line: ArraySlice<UInt8>) -> (Int, Int, Int) {
    (allowedChanges.allows(line, from: texts[kind]) ? 1 : 0, texts[kind].count, -kind)
  }
}

extension JSONValue {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }

  /// A hash of each leaf value with its path. A value that contains another value has all of its
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
