/// A JSON value, compared by its meaning and not by its formatting.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case number(JSONNumber)
  /// The text in UTF-8; an unpaired surrogate keeps its three bytes.
  case string([UInt8])
  case array([JSONValue])
  case object(JSONObject)

  /// Returns whether this contains everything in `original`: objects can have additional members at
  /// any depth, arrays have the same number of elements, and all else is equal.
  package func holds(_ original: JSONValue) -> Bool {
    switch (self, original) {
    case (.object(let mine), .object(let theirs)):
      theirs.members.allSatisfy { name, value in mine.members[name]?.holds(value) == true }
    case (.array(let mine), .array(let theirs)): mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.holds($1) }
    default: self == original
    }
  }

  /// Returns the value at a path of names and indices; nil when there is none.
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

/// The members of an object. Of duplicate names, the last one counts.
package struct JSONObject: Hashable, Sendable {
  package var members: [[UInt8]: JSONValue]
  /// The offset of its closing brace in the text.
  package var closingBrace: Int

  package static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.members == right.members
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(members)
  }
}

/// The exact value of a number of any size: its digits without leading and trailing zeros, and a
/// power of ten.
package struct JSONNumber: Hashable, Sendable {
  private let isNegative: Bool
  private let digits: [UInt8]
  private let exponent: Int

  /// - Parameter text: a number in JSON syntax.
  init(_ text: Span<UInt8>) {
    var (negative, digits, exponent, written) = (false, [UInt8](), 0, [UInt8]())
    var (isFraction, isExponent) = (false, false)
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "-") where !isExponent: negative = true
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"): isExponent = true
      case let byte where isExponent: written.append(byte)
      case let digit:
        digits.append(digit)
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

  /// The number as an `Int`; nil when it is not whole or does not fit.
  package var integer: Int? {
    guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
    let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: exponent)
    return digits.isEmpty ? 0 : Int(text)
  }

  /// The number in JSON syntax.
  var text: String {
    let whole = digits.isEmpty ? "0" : String(decoding: digits, as: UTF8.self)
    return (isNegative ? "-" : "") + (0...20 ~= exponent ? whole + String(repeating: "0", count: exponent) : "\(whole)e\(exponent)")
  }

  /// Parses an exponent. One that is out of range is limited to ±`Int32.max`.
  private static func exponent(_ text: [UInt8]) -> Int {
    let bound = Int(Int32.max)
    guard let value = Int(String(decoding: text, as: UTF8.self)) else {
      return text.isEmpty ? 0 : text.first == UInt8(ascii: "-") ? -bound : bound
    }
    return min(max(value, -bound), bound)
  }
}
