import Foundation

/// Metrics in the text format of Prometheus, parsed by its rules. A violation is an error.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details
struct ParsedMetrics {
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  struct Sample: Hashable {
    var name: String
    var labels: [String: String]
    var value: Double
  }

  struct Family {
    var name: String
    var kind = ""
    var help = ""
    var samples: [Sample] = []
  }

  private(set) var families: [Family] = []

  init(_ text: String) throws {
    guard text.hasSuffix("\n") else { throw Failure(description: "the last line has no line feed") }
    for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) { try read(String(line)) }
    var seen: Set<String> = []
    for family in families {
      guard seen.insert(family.name).inserted else { throw Failure(description: "\(family.name) comes twice") }
      guard !family.samples.isEmpty, !family.help.isEmpty else { throw Failure(description: "\(family.name) is not whole") }
      try Self.check(family)
    }
  }

  /// The value of a sample, or nil if there is none.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    families.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
  }

  private mutating func read(_ line: String) throws {
    if line.hasPrefix("# HELP ") {
      let parts = line.dropFirst(7).split(separator: " ", maxSplits: 1)
      guard parts.count == 2 else { throw Failure(description: line) }
      families.append(Family(name: String(parts[0]), help: String(parts[1])))
    } else if line.hasPrefix("# TYPE ") {
      let parts = line.dropFirst(7).split(separator: " ")
      guard let family = families.last, parts.count == 2, parts[0] == family.name, family.kind.isEmpty, family.samples.isEmpty,
        ["counter", "gauge", "histogram"].contains(parts[1])
      else { throw Failure(description: "out of place: \(line)") }
      families[families.count - 1].kind = String(parts[1])
    } else {
      let sample = try Self.sample(line)
      guard let family = families.last, !family.kind.isEmpty, Self.suffixes(family).contains(where: { family.name + $0 == sample.name })
      else {
        throw Failure(description: "in no family: \(line)")
      }
      guard !family.samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
        throw Failure(description: "twice: \(line)")
      }
      families[families.count - 1].samples.append(sample)
    }
  }

  private static func suffixes(_ family: Family) -> [String] {
    family.kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
  }

  private static func sample(_ line: String) throws -> Sample {
    var rest = line[...]
    let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") }
    guard let first = name.first, !first.isNumber else { throw Failure(description: "no name: \(line)") }
    rest = rest.dropFirst(name.count)
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest = rest.dropFirst()
      while rest.first != "}" {
        let label = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        rest = rest.dropFirst(label.count)
        guard !label.isEmpty, rest.hasPrefix("=\"") else { throw Failure(description: "no label: \(line)") }
        rest = rest.dropFirst(2)
        labels[String(label)] = try value(&rest, line)
        if rest.first == "," { rest = rest.dropFirst() }
      }
      rest = rest.dropFirst()
    }
    guard rest.first == " ", let value = number(rest.dropFirst()) else { throw Failure(description: "no value: \(line)") }
    return Sample(name: String(name), labels: labels, value: value)
  }

  /// A label's value up to its quote: only `\\`, `\"` and `\n` are escapes.
  private static func value(_ rest: inout Substring, _ line: String) throws -> String {
    var value = ""
    while let character = rest.popFirst(), character != "\"" {
      guard character == "\\" else {
        value.append(character)
        continue
      }
      switch rest.popFirst() {
      case "\\": value += "\\"
      case "\"": value += "\""
      case "n": value += "\n"
      default: throw Failure(description: "no escape: \(line)")
      }
    }
    return value
  }

  private static func number(_ text: Substring) -> Double? {
    switch text {
    case "+Inf": .infinity
    case "-Inf": -.infinity
    case "NaN": .nan
    default: text.contains(where: \.isLetter) && !text.contains("e") ? nil : Double(text)
    }
  }

  /// Checks the rules that a family's type has for its samples.
  private static func check(_ family: Family) throws {
    switch family.kind {
    case "counter":
      guard family.name.hasSuffix("_total"), family.samples.allSatisfy({ $0.value >= 0 }) else {
        throw Failure(description: "no counter: \(family.name)")
      }
    case "histogram":
      let buckets = family.samples.filter { $0.name.hasSuffix("_bucket") }
      let bounds = buckets.compactMap { $0.labels["le"].flatMap { number($0[...]) } }
      let counts = buckets.map(\.value)
      guard bounds == bounds.sorted(), Set(bounds).count == buckets.count, bounds.last == .infinity, counts == counts.sorted(),
        family.samples.contains(where: { $0.name.hasSuffix("_sum") }),
        family.samples.first(where: { $0.name.hasSuffix("_count") })?.value == counts.last
      else { throw Failure(description: "no histogram: \(family.name)") }
    default:
      guard !family.name.hasSuffix("_total") else { throw Failure(description: "a gauge with a counter's name: \(family.name)") }
    }
  }
}
