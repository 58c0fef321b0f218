/// A JSON value, compared by what it says and not by how it is written.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case number(JSONNumber)
  /// As UTF-8; half a surrogate pair keeps its three bytes.
  case string([UInt8])
  case array([JSONValue])
  case object(JSONObject)

  /// Whether this holds everything that `original` says: objects may have gained members at any
  /// depth, arrays have as many elements, all else is equal.
  package func holds(_ original: JSONValue) -> Bool {
    switch (self, original) {
    case (.object(let mine), .object(let theirs)):
      theirs.members.allSatisfy { name, value in mine.members[name]?.holds(value) == true }
    case (.array(let mine), .array(let theirs)): mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.holds($1) }
    default: self == original
    }
  }

  /// The value at the end of a path of names and indices.
  package func value(at path: some Sequence<String>) -> JSONValue? {
    path.reduce(self as JSONValue?) { value, part in
      switch value {
      case .object(let object): object.members[Array(part.utf8)]
      case .array(let elements): Int(part).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      case .null, .boolean, .number, .string, nil: nil
      }
    }
  }
}

/// The members of an object; of those with one name, the last.
package struct JSONObject: Hashable, Sendable {
  package var members: [[UInt8]: JSONValue]
  /// Where in the text its closing brace stands.
  package var closingBrace: Int

  package static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.members == right.members
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(members)
  }
}

/// A number by its value, exact whatever its size: its digits without zeros at either end, and a
/// power of ten.
package struct JSONNumber: Hashable, Sendable {
  private let isNegative: Bool
  private let digits: [UInt8]
  private let exponent: Int

  /// - Parameter text: a number as JSON writes it.
  init(_ text: some Sequence<UInt8>) {
    var (negative, digits, exponent, written) = (false, [UInt8](), 0, [UInt8]())
    var (isFraction, isExponent) = (false, false)
    for byte in text {
      switch byte {
      case UInt8(ascii: "-") where !isExponent: negative = true
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"): isExponent = true
      case _ where isExponent: written.append(byte)
      default:
        digits.append(byte)
        if isFraction { exponent -= 1 }
      }
    }
    exponent += Self.exponent(written)
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    self.digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
    isNegative = negative && !self.digits.isEmpty
    self.exponent = self.digits.isEmpty ? 0 : exponent
  }

  /// The number itself when it is whole and an `Int` holds it.
  package var integer: Int? {
    guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
    let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: exponent)
    return digits.isEmpty ? 0 : Int(text)
  }

  /// An exponent beyond every use becomes a very large one.
  private static func exponent(_ text: [UInt8]) -> Int {
    let bound = Int(Int32.max)
    guard let value = Int(String(decoding: text, as: UTF8.self)) else {
      return text.isEmpty ? 0 : text.first == UInt8(ascii: "-") ? -bound : bound
    }
    return min(max(value, -bound), bound)
  }
}
