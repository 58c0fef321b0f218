internal import Attache

/// The media of a recording: either the original bytes, or stand-ins of the same type and size.
struct RecordedMedia {
  private let folder: String?
  /// The media stored next to the scenario.
  private(set) var kept: [Medium] = []

  init(folder: String?) {
    self.folder = folder
  }

  /// Returns the medium that the scenario sends for an exchange. A stand-in has `size` bytes.
  ///
  /// - Returns: nil when no stand-in is as small, or as large.
  mutating func medium(for exchange: RecordedExchange, size: Int) -> Medium? {
    guard let folder, !exchange.body.isEmpty else { return standIn(for: exchange, size: size) }
    if let same = kept.first(where: { $0.bytes == exchange.body }) { return same }
    let medium = Medium(name: "\(folder)/\(kept.count + 1).\(exchange.type?.fileExtension ?? "bin")", bytes: exchange.body)
    kept.append(medium)
    return medium
  }

  private func standIn(for exchange: RecordedExchange, size: Int) -> Medium? {
    // A page represents every type that is known but not supported.
    let ending = exchange.type?.fileExtension ?? (exchange.refusal == .typeUnsupported ? "html" : "bin")
    let bytes = try? StandIn.bytes(ofType: ending, size: size)
    return bytes.map { Medium(name: "stand-in-\(size).\(ending)", bytes: $0) }
  }
}
