extension OriginScript {
  /// The path that a request names, as the script writes it: the target itself, else without its
  /// query.
  package func path(of target: String) -> String {
    paths[target] == nil ? String(target.prefix { $0 != "?" }) : target
  }

  /// What is sent for a request, the placeholders of its steps not filled in.
  ///
  /// - Parameters:
  ///   - path: as ``path(of:)`` gives it.
  ///   - turn: which request of the path it is; the first is 1.
  package func steps(for path: String, turn: Int) -> [OriginStep] {
    guard let script = paths[path] else { return [OriginStep(.status(404)), OriginStep(.text("nothing at \(path)\n"))] }
    guard let last = script.responses.last else { return [OriginStep(.status(404))] }
    return turn <= script.responses.count ? script.responses[turn - 1] : last
  }
}
