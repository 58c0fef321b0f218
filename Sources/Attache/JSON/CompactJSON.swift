/// Removes the white space between the tokens of JSON.
package enum CompactJSON {
  /// - Parameter json: valid JSON.
  package static func of(_ json: some Collection<UInt8>) -> [UInt8] {
    var compact: [UInt8] = []
    compact.reserveCapacity(json.count)
    var (isInString, isEscaped) = (false, false)
    for byte in json {
      if isInString || !byte.isJSONSpace { compact.append(byte) }
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = isInString
      }
    }
    return compact
  }
}
