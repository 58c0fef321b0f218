import Foundation

/// A payload with the expected answer: the sample of a row in the built-in table, or one of
/// `Fixtures/dialects`.
struct DialectSample: CustomStringConvertible, Sendable {
  let description: String
  /// The dialect that names the first media; nil if the sample does not give it.
  let dialect: String?
  let isEncrypted: Bool
  let payload: String
  /// As JSON with sorted keys.
  let media: [String]
  let overrides, onFailure: [String: String]
  let actions: [String]

  var object: Any { (try? JSONSerialization.jsonObject(with: Data(payload.utf8))) ?? [:] }

  static let all: [DialectSample] = {
    let rows = array(of: "Sources/Attache/Dialects/dialects.json").compactMap { row in
      (row["sample"] as? [String: Any]).map {
        DialectSample($0, name: "\(row["name"] ?? ""): its own", dialect: nil, isEncrypted: row["encrypted"] != nil, media: $0["media"])
      }
    }
    let samples = array(of: "Fixtures/dialects/samples.json").map {
      DialectSample(
        $0, name: "\($0["dialect"] ?? ""): \($0["case"] ?? "")", dialect: $0["dialect"] as? String, isEncrypted: $0["encrypted"] != nil,
        media: $0["expect"])
    }
    return rows + samples
  }()

  private init(_ sample: [String: Any], name: String, dialect: String?, isEncrypted: Bool, media: Any?) {
    description = name
    self.dialect = dialect
    self.isEncrypted = isEncrypted
    payload = Self.json(sample["payload"] ?? [:])
    self.media = (media as? [[String: Any]] ?? []).map { reference in
      var reference = reference
      if let needs = reference["needs"] as? [String] { reference["needs"] = needs.sorted() }
      return Self.json(reference)
    }
    overrides = (sample["overrides"] as? [String: Any] ?? [:]).mapValues { "\($0)" }
    onFailure = (sample["on_failure"] as? [String: Any] ?? [:]).mapValues { "\($0)" }
    actions = (sample["actions"] as? [[String: Any]] ?? []).map(Self.json)
  }

  static func json(_ value: Any) -> String {
    let data = try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  /// The objects of a JSON file of the repository.
  private static func array(of path: String) -> [[String: Any]] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../" + path).standardized
    let value = (try? Data(contentsOf: file)).flatMap { try? JSONSerialization.jsonObject(with: $0) }
    return value as? [[String: Any]] ?? []
  }
}
