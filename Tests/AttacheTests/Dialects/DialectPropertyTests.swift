import AttacheTesting
import Foundation
import Testing

@testable import Attache

/// Properties of every dialect, tested with all samples.
struct DialectPropertyTests {
  private let stage = DialectStage(DialectTable())

  @Test(arguments: DialectSample.all)
  func `unknown keys and the order of keys never change the answer`(sample: DialectSample) throws {
    let payload = sample.payload
    for seed in 0..<10 {
      var random = SeededGenerator(seed: UInt64(seed))
      let shuffled = text(of: sample.object, isTop: true, shuffledBy: &random)
      #expect(stage.media(shuffled) == stage.media(payload), "\(shuffled)")
      #expect(stage.dialect(shuffled) == stage.dialect(payload), "\(shuffled)")
      #expect(stage.text(shuffled) == stage.text(payload), "\(shuffled)")
      #expect(stage.encrypted(shuffled)?.dialect == stage.encrypted(payload)?.dialect, "\(shuffled)")
    }
  }

  @Test(arguments: DialectSample.all)
  func `a wrong type anywhere never fails and names nothing new`(sample: DialectSample) throws {
    // A wrong type may enable other media: another alternative, a row that the value excluded, or
    // the generic keys.
    let all = Set(DialectStage(DialectTable(rows: Dialect.builtIn.map(\.withoutRestraint))).urls(sample.payload))
    #expect(Set(stage.urls(sample.payload)).isSubset(of: all))
    for variant in variants(of: sample.object) {
      let template = DialectSample.json(variant)
      for wrong in ["1.5", "null", #""""#, "[]", "{}", "true", #"[null,{"url":0}]"#] {
        let payload = template.replacing(#""\#(marker)""#, with: wrong)
        #expect(Set(stage.urls(payload)).isSubset(of: all), "\(payload)")
        _ = stage.text(payload)
        _ = stage.encrypted(payload)
      }
    }
  }

  private let marker = "the wrong value"

  /// Copies of the value in which one value at any depth is replaced by the marker.
  private func variants(of value: Any) -> [Any] {
    var variants: [Any] = []
    if let object = value as? [String: Any] {
      for key in object.keys.sorted() {
        for variant in [marker] + self.variants(of: object[key] as Any) { variants.append(object.merging([key: variant]) { $1 }) }
      }
    }
    if let array = value as? [Any] {
      for index in array.indices {
        for variant in [marker] + self.variants(of: array[index]) {
          variants.append(Array(array[..<index] + [variant] + array[(index + 1)...]))
        }
      }
    }
    return variants
  }

  /// JSON text with the members of every object in random order and unknown ones between them: any
  /// kind at the top level, and deeper only values that are not URLs, since an object may be a map
  /// of URLs.
  private func text(of value: Any, isTop: Bool = false, shuffledBy random: inout SeededGenerator) -> String {
    switch value {
    case let object as [String: Any]:
      var members = object.keys.sorted().map { DialectSample.json($0) + ":" + text(of: object[$0] as Any, shuffledBy: &random) }
      for index in 0..<Int.random(in: 0..<4, using: &random) {
        let unknown = isTop ? JSONSample.value(depth: 2, using: &random) : ["0", "null", "{}", "[]", "false"].randomElement(using: &random)
        members.append(#""unknown-\#(index)":"# + (unknown ?? "0"))
      }
      return "{" + members.shuffled(using: &random).joined(separator: ",") + "}"
    case let array as [Any]:
      return "[" + array.map { text(of: $0, shuffledBy: &random) }.joined(separator: ",") + "]"
    default:
      return DialectSample.json(value)
    }
  }
}

extension Dialect {
  /// The same with everything that it could name: regardless of the rest of the payload, and with
  /// all alternatives.
  fileprivate var withoutRestraint: Dialect {
    var row = self
    row.precedence = .user
    row.when = []
    row.media = media.joined().map { source in
      var source = source
      source.when = []
      source.maximum = .max
      return [source]
    }
    return row
  }
}
