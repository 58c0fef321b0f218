extension OriginScript {
  /// Returns the path of a request as the script writes it: the target itself if the script has it,
  /// else the target without its query.
  package func path(of target: String) -> String {
    paths[target] == nil ? String(target.prefix { $0 != "?" }) : target
  }

  /// Returns the steps for a request, with placeholders not filled in.
  ///
  /// - Parameters:
  ///   - path: the result of ``path(of:)``.
  ///   - turn: the number of the request for this path; the first is 1.
  package func steps(for path: String, turn: Int) -> [OriginStep] {
    paths[path]?.steps(turn: turn) ?? [OriginStep(.status(404)), OriginStep(.text("nothing at \(path)\n"))]
  }
}

extension PathScript {
  /// Returns the steps for a request; the first turn is 1.
  func steps(turn: Int) -> [OriginStep] {
    responses.isEmpty ? [OriginStep(.status(404))] : responses[min(turn, responses.count) - 1]
  }
}
