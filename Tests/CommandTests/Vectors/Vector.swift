import Foundation
import Testing

/// A hostile input, or a control, of Fixtures/vectors.
struct Vector: Decodable, Sendable {
  /// How a vector is tested.
  enum Way: Equatable {
    /// A URL, which the suite puts into a payload and runs.
    case url([UInt8])
    /// A whole line, which the suite runs.
    case payload([UInt8])
    /// Files of Fixtures/scenarios, without their extensions.
    case scenarios([String])
    /// A test, by its name.
    case test(String)
    /// Nothing tests it yet.
    case none
    /// More than one of these is given.
    case several
  }

  /// The rest of a long URL.
  struct Generated: Decodable {
    var append: String
    var count: Int
    var then: String?
  }

  var id: String
  /// What the test needs: `unit`, `loopback`, `netns`, `tls`.
  var tier: String
  /// A word of the table of expectations.
  var expect: String
  /// Why this answer was chosen, if more than one was offered or the design differs.
  var choice: String?
  var url: String?
  var url_hex: String?
  var gen: Generated?
  var payload_hex: String?
  var why: String
  var test: String?
  /// The name of the file without its extension.
  private(set) var category = ""
  private var scenario: Scenarios?
  private var isForScenario = false

  private enum CodingKeys: String, CodingKey {
    case id, tier, expect, choice, url, url_hex, gen, payload_hex, why, test, scenario
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    id = try values.decode(String.self, forKey: .id)
    tier = try values.decode(String.self, forKey: .tier)
    expect = try values.decode(String.self, forKey: .expect)
    choice = try values.decodeIfPresent(String.self, forKey: .choice)
    url = try values.decodeIfPresent(String.self, forKey: .url)
    url_hex = try values.decodeIfPresent(String.self, forKey: .url_hex)
    gen = try values.decodeIfPresent(Generated.self, forKey: .gen)
    payload_hex = try values.decodeIfPresent(String.self, forKey: .payload_hex)
    why = try values.decode(String.self, forKey: .why)
    test = try values.decodeIfPresent(String.self, forKey: .test)
    isForScenario = values.contains(.scenario)
    scenario = try values.decodeIfPresent(Scenarios.self, forKey: .scenario)
  }

  var way: Way {
    switch (test, scenario?.names) {
    case (let test?, nil): .test(test)
    case (nil, let names?): names.isEmpty ? .none : .scenarios(names)
    case (_?, _?): .several
    case (nil, nil) where isForScenario: .none
    case (nil, nil): own
    }
  }

  /// The line or the URL of the vector itself.
  private var own: Way {
    if let payload_hex { return url == nil ? .payload(Self.bytes(ofHex: payload_hex)) : .several }
    if let url_hex { return .url(Self.bytes(ofHex: url_hex)) }
    guard let url else { return .none }
    let more = gen.map { String(repeating: $0.append, count: $0.count) + ($0.then ?? "") } ?? ""
    return .url(Array((url + more).utf8))
  }

  private static func bytes(ofHex text: String) -> [UInt8] {
    let digits = Array(text)
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
  }

  /// One name, or a list of them.
  private struct Scenarios: Decodable {
    var names: [String]

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      names = try (try? value.decode(String.self)).map { [$0] } ?? value.decode([String].self)
    }
  }
}

extension Vector {
  static let folder = Sample.fixtures + "/vectors"

  /// Every vector of every file, in order.
  static func all() throws -> [Vector] {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") && $0 != "expectations.json" }
    return try files.sorted().flatMap { file in
      var vectors = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: URL(filePath: "\(folder)/\(file)")))
      for index in vectors.indices { vectors[index].category = String(file.dropLast(".json".count)) }
      return vectors
    }
  }
}

extension Vector: CustomTestStringConvertible {
  var testDescription: String { id }
}
