/// Decodes Punycode (RFC 3492), to check that an A-label is meaningful.
enum Punycode {
  /// Decodes a label without its `xn--`, in lower case, to Unicode scalars. Returns nil when it
  /// cannot be decoded.
  static func decode(_ label: ArraySlice<UInt8>) -> [Unicode.Scalar]? {
    var output: [UInt32] = []
    var digits = label
    if let delimiter = label.lastIndex(of: UInt8(ascii: "-")) {
      output = label[..<delimiter].map { UInt32($0) }
      digits = label[(delimiter + 1)...]
    }
    var codePoint: UInt32 = 128
    var position: UInt32 = 0
    var bias: UInt32 = 72
    var isFirst = true
    while !digits.isEmpty {
      guard let delta = integer(&digits, bias: bias) else { return nil }
      let count = UInt32(output.count) + 1
      let (sum, overflow) = position.addingReportingOverflow(delta)
      guard !overflow else { return nil }
      bias = adapt(delta, count: count, isFirst: isFirst)
      isFirst = false
      let (next, tooLarge) = codePoint.addingReportingOverflow(sum / count)
      guard !tooLarge, Unicode.Scalar(next) != nil else { return nil }
      codePoint = next
      position = sum % count
      output.insert(codePoint, at: Int(position))
      position += 1
    }
    return output.compactMap(Unicode.Scalar.init)
  }

  /// Reads one generalised variable-length integer (RFC 3492, 3.3) from the front of `digits`.
  private static func integer(_ digits: inout ArraySlice<UInt8>, bias: UInt32) -> UInt32? {
    var value: UInt32 = 0
    var weight: UInt32 = 1
    var step: UInt32 = 36
    while let digit = digits.popFirst().flatMap(digitValue) {
      let (product, overflow) = digit.multipliedReportingOverflow(by: weight)
      let (sum, tooLarge) = value.addingReportingOverflow(product)
      guard !overflow, !tooLarge else { return nil }
      value = sum
      let threshold = step <= bias ? 1 : min(step - bias, 26)
      if digit < threshold { return value }
      let (heavier, tooHeavy) = weight.multipliedReportingOverflow(by: 36 - threshold)
      guard !tooHeavy else { return nil }
      weight = heavier
      step += 36
    }
    return nil
  }

  /// Returns the bias after an integer (RFC 3492, 6.1; damp 700, skew 38).
  private static func adapt(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / count
    var bias: UInt32 = 0
    while delta > 35 * 26 / 2 {
      delta /= 35
      bias += 36
    }
    return bias + 36 * delta / (delta + 38)
  }

  private static func digitValue(_ byte: UInt8) -> UInt32? {
    if let digit = byte.decimalDigit { return UInt32(digit) + 26 }
    return byte.isLetterASCII ? UInt32(byte.lowercasedASCII - UInt8(ascii: "a")) : nil
  }
}
