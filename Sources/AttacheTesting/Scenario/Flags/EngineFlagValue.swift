internal import Attache

/// A wrong flag, in the words of the command line.
struct EngineFlagMistake: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The text that follows a flag.
struct EngineFlagValue {
  let flag: EngineFlag
  /// Empty for a switch.
  let text: String

  func duration() throws -> Duration { try read(WrittenDuration.duration) }

  func bytes() throws -> Int { Int(try read(WrittenByteCount.bytes)) }

  func count(in range: ClosedRange<Int> = CountRange.usual) throws -> Int {
    let count = try read { Int($0) }
    if let mistake = CountRange.mistake(count, flag.name, in: range) { throw EngineFlagMistake(mistake) }
    return count
  }

  /// Parses a raw value of an enumeration with two or three cases.
  func choice<Value: RawRepresentable<String> & CaseIterable>() throws -> Value {
    if let value = Value(rawValue: text) { return value }
    let names = Value.allCases.map { "'\($0.rawValue)'" }
    let list =
      names.count > 2 ? names.dropLast().joined(separator: ", ") + " or \(names[names.count - 1])" : names.joined(separator: " and ")
    throw invalid(". Please provide one of \(list).")
  }

  /// Converts the text; nil is a mistake.
  func read<Value>(_ convert: (String) -> Value?) throws -> Value {
    guard let value = convert(text) else { throw invalid("") }
    return value
  }

  /// Converts the text; an error is a mistake, which its description explains.
  func parse<Value>(_ convert: (String) throws -> Value) throws -> Value {
    do { return try convert(text) } catch { throw invalid(": \(error)") }
  }

  private func invalid(_ explanation: String) -> EngineFlagMistake {
    EngineFlagMistake("The value '\(text)' is invalid for '\(flag.name) <\(flag.valueName ?? "")>'\(explanation)")
  }
}
