/// Writes metrics in Prometheus' text format, version 0.0.4.
///
/// Source: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
package struct MetricsText {
  /// The content type of the text.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  package enum Kind: String {
    case counter, gauge, histogram
  }

  package private(set) var text = ""
  private var name = ""

  package init() {}

  /// Begins a family. Its samples follow.
  package mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind.rawValue)\n"
  }

  /// Adds a sample to the current family.
  package mutating func sample(_ value: Double, suffix: String = "", _ labels: KeyValuePairs<String, String> = [:]) {
    let pairs = labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }.joined(separator: ",")
    text += "\(name)\(suffix)\(pairs.isEmpty ? "" : "{\(pairs)}") \(Self.number(value))\n"
  }

  package mutating func sample(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) {
    sample(Double(value), labels)
  }

  /// Writes a family of one sample.
  package mutating func gauge(_ name: String, _ help: String, _ value: Double) {
    family(name, .gauge, help)
    sample(value)
  }

  package mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
    family(name, .histogram, help)
    for (bound, count) in histogram.cumulated { sample(Double(count), suffix: "_bucket", ["le": Self.number(bound)]) }
    sample(histogram.sum, suffix: "_sum")
    sample(Double(histogram.count), suffix: "_count")
  }

  /// Formats a number for Go's parser.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
