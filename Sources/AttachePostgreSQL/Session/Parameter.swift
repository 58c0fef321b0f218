/// A value for a statement, in PostgreSQL's binary format.
enum Parameter {
  /// NULL, of any type.
  case null
  /// `bigint`
  case integer(Int64?)
  case boolean(Bool)
  case text(String?)
  case bytes([UInt8]?)
  /// `bigint[]`
  case integers([Int64?])
  /// `boolean[]`
  case booleans([Bool])
  /// `text[]`
  case texts([String?])
  /// `bytea[]`
  case byteStrings([[UInt8]?])
}

/// The parameters of one execution, in one buffer.
struct ParameterBuffer {
  private(set) var bytes: [UInt8] = []
  /// The position and the length of each value; nil is NULL.
  private(set) var values: [(offset: Int, length: Int)?] = []

  /// Type numbers of PostgreSQL's catalogue (`pg_type.dat`).
  private enum TypeNumber: Int32 {
    case boolean = 16
    case bytes = 17
    case integer = 20
    case text = 25
  }

  init(_ parameters: [Parameter]) {
    bytes.reserveCapacity(parameters.reduce(0) { $0 + $1.estimate })
    for parameter in parameters { append(parameter) }
  }

  private mutating func append(_ parameter: Parameter) {
    let start = bytes.count
    switch parameter {
    case .null, .integer(nil), .text(nil), .bytes(nil):
      values.append(nil)
      return
    case .integer(let number?): append(number)
    case .boolean(let value): bytes.append(value ? 1 : 0)
    case .text(let text?): append(text)
    case .bytes(let value?): bytes += value
    case .integers(let numbers):
      array(of: .integer, numbers) { buffer, number in buffer.append(number) }
    case .booleans(let flags):
      array(of: .boolean, flags.map { $0 as Bool? }) { buffer, flag in buffer.bytes.append(flag ? 1 : 0) }
    case .texts(let texts):
      array(of: .text, texts) { buffer, text in buffer.append(text) }
    case .byteStrings(let strings):
      array(of: .bytes, strings) { buffer, string in buffer.bytes += string }
    }
    values.append((start, bytes.count - start))
  }

  /// Appends an array with one dimension, as `array_recv` reads it: dimensions, whether there are
  /// NULLs, the type, the count, the first index, and each value after its length.
  private mutating func array<Element>(of type: TypeNumber, _ elements: [Element?], _ body: (inout Self, Element) -> Void) {
    append(elements.isEmpty ? 0 : 1 as Int32)
    append(elements.contains { $0 == nil } ? 1 : 0 as Int32)
    append(type.rawValue)
    guard !elements.isEmpty else { return }
    append(Int32(clamping: elements.count))
    append(1 as Int32)
    for element in elements {
      guard let element else {
        append(-1 as Int32)
        continue
      }
      let place = bytes.count
      append(0 as Int32)
      body(&self, element)
      let length = UInt32(clamping: bytes.count - place - 4)
      for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index)) }
    }
  }

  /// Appends a text. PostgreSQL's texts cannot contain NUL, which becomes U+FFFD.
  private mutating func append(_ text: String) {
    guard text.utf8.contains(0) else {
      bytes += text.utf8
      return
    }
    for byte in text.utf8 { bytes += byte == 0 ? Array("\u{FFFD}".utf8) : [byte] }
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    var shift = number.bitWidth
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}

extension Parameter {
  /// `bigint[]`, or NULL if every element is nil.
  static func integersOrNull(_ numbers: [Int64?]) -> Parameter { numbers.contains { $0 != nil } ? .integers(numbers) : .null }

  /// `bytea[]`, or NULL if every element is nil.
  static func byteStringsOrNull(_ strings: [[UInt8]?]) -> Parameter { strings.contains { $0 != nil } ? .byteStrings(strings) : .null }

  /// About how many bytes the value takes.
  fileprivate var estimate: Int {
    switch self {
    case .null: 0
    case .integer, .boolean: 8
    case .text(let text): text?.utf8.count ?? 0
    case .bytes(let bytes): bytes?.count ?? 0
    case .integers(let numbers): 20 + 12 * numbers.count
    case .booleans(let flags): 20 + 5 * flags.count
    case .texts(let texts): texts.reduce(20) { $0 + 4 + ($1?.utf8.count ?? 0) }
    case .byteStrings(let strings): strings.reduce(20) { $0 + 4 + ($1?.count ?? 0) }
    }
  }
}
