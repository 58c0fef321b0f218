/// The lines of input by what they say, so that the one which a line of output comes from is found quickly.
///
/// Lines with the same bytes are one kind: nobody can tell which of them an output answers.
struct PayloadIndex {
  /// The kind of each line of input.
  let kinds: [Int]
  /// The bytes of each kind.
  let texts: [[UInt8]]
  private let values: [JSONValue?]
  private let kindByText: [[UInt8]: Int]
  /// Kinds by the rarest thing that they say.
  private var kindsByLeaf: [Int: [Int]] = [:]
  /// Kinds that say nothing, such as `{}`: any object holds them.
  private var emptyKinds: [Int] = []

  init(_ input: [[UInt8]]) {
    var (kinds, texts, kindByText) = ([Int](), [[UInt8]](), [[UInt8]: Int]())
    for line in input {
      let kind = kindByText[line] ?? texts.count
      if kind == texts.count {
        kindByText[line] = kind
        texts.append(line)
      }
      kinds.append(kind)
    }
    (self.kinds, self.texts, self.kindByText) = (kinds, texts, kindByText)
    values = texts.map { try? JSONReader.read($0[...]) }
    file()
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

  /// The kind of line that an output line is, or holds the members of; of several, the one that says most.
  func kind(of line: ArraySlice<UInt8>) -> Int? {
    if let kind = kindByText[Array(line)] { return kind }
    guard let value = try? JSONReader.read(line) else { return nil }
    let candidates = Set(value.leaves).flatMap { kindsByLeaf[$0] ?? [] } + (value.isObject ? emptyKinds : [])
    return candidates.filter { kind in values[kind].map { value.holds($0) } == true }.max { weight($0) < weight($1) }
  }

  /// What says more weighs more; of equals, the first line.
  private func weight(_ kind: Int) -> (Int, Int) {
    (texts[kind].count, -kind)
  }
}

extension JSONValue {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }

  /// A number for everything that is said, with its place. What holds a value has all of its leaves.
  fileprivate var leaves: [Int] {
    var leaves: [Int] = []
    addLeaves(under: 0, to: &leaves)
    return leaves
  }

  private func addLeaves(under place: Int, to leaves: inout [Int]) {
    guard case .object(let object) = self else { return leaves.append(Self.hash(place, self)) }
    for (name, value) in object.members { value.addLeaves(under: Self.hash(place, name), to: &leaves) }
  }

  private static func hash(_ place: Int, _ part: some Hashable) -> Int {
    var hasher = Hasher()
    hasher.combine(place)
    hasher.combine(part)
    return hasher.finalize()
  }
}
