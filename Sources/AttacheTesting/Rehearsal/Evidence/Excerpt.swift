internal import Attache

/// The beginning of a line, for a message.
struct Excerpt: CustomStringConvertible {
  private static let maximumCount = 90

  let description: String

  init(_ bytes: some Collection<UInt8>) {
    guard !bytes.isEmpty else {
      description = "nothing"
      return
    }
    let text = String(decoding: bytes.prefix(Self.maximumCount), as: UTF8.self).printable
    description = "“\(text)\(bytes.count > Self.maximumCount ? "…" : "")”"
  }
}

/// A duration in a message: `512.3 ms`.
struct Milliseconds: CustomStringConvertible {
  let description: String

  init(_ duration: Duration) {
    let tenths = (duration.milliseconds * 10).rounded()
    description = tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10)) ms" : "\(tenths / 10) ms"
  }
}

extension [Finding] {
  /// At most 10 findings of each kind; the others are counted.
  package var abridged: [Finding] {
    let maximum = 10
    var counts: [Finding.Kind: Int] = [:]
    let kept = filter { finding in
      counts[finding.kind, default: 0] += 1
      return counts[finding.kind, default: 0] <= maximum
    }
    let others = Finding.Kind.allCases.compactMap { kind in
      counts[kind].flatMap { $0 > maximum ? Finding(kind, "and \($0 - maximum) more of this kind") : nil }
    }
    return kept + others
  }
}

extension String {
  /// The text with characters that affect a terminal, or that a report cannot contain, written as
  /// `\u{1b}`.
  var printable: String {
    unicodeScalars.map { scalar in
      scalar.forgesText || scalar.isUndefined ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }.joined()
  }
}
