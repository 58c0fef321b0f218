internal import Attache

/// The media of a recording: kept as they are, or replaced by stand-ins of the same type and size.
struct RecordedMedia {
  private let folder: String?
  /// What lies beside the scenario.
  private(set) var kept: [Medium] = []

  init(folder: String?) {
    self.folder = folder
  }

  /// What the scenario sends in an exchange's place, `size` bytes long.
  mutating func medium(for exchange: RecordedExchange, size: Int) -> Medium? {
    guard let folder, !exchange.body.isEmpty else { return standIn(for: exchange, size: size) }
    if let same = kept.first(where: { $0.bytes == exchange.body }) { return same }
    let medium = Medium(name: "\(folder)/\(kept.count + 1).\(Self.ending(of: exchange))", bytes: exchange.body)
    kept.append(medium)
    return medium
  }

  private func standIn(for exchange: RecordedExchange, size: Int) -> Medium? {
    for ending in [Self.ending(of: exchange), "bin"] {
      if let bytes = try? StandIn.bytes(ofType: ending, size: size) { return Medium(name: "stand-in-\(size).\(ending)", bytes: bytes) }
    }
    return nil
  }

  private static func ending(of exchange: RecordedExchange) -> String {
    if let type = exchange.type { return type.fileExtension }
    // A page stands for every type that is known and not wanted.
    return exchange.refusal == .typeUnsupported && exchange.body.isEmpty ? "html" : "bin"
  }
}
