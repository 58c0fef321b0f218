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
    guard let script = paths[path] else { return [OriginStep(.status(404)), OriginStep(.text("nothing at \(path)\n"))] }
    guard let last = script.responses.last else { return [OriginStep(.status(404))] }
    return turn <= script.responses.count ? script.responses[turn - 1] : last
  }
}
