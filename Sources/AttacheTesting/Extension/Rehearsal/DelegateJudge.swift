internal import Attache

/// Finds what an app's delegate does wrong with a silent push.
enum DelegateJudge {
  static func findings(_ situation: ExtensionSituation, _ evidence: ExtensionEvidence) -> [Finding] {
    let deaths = ExtensionJudge.findings(of: evidence.deaths, evidence)
    guard deaths.isEmpty, let request = evidence.requests.first else { return deaths }
    guard let completed = request.answers.first, !request.isUnanswered else {
      return [Finding(.silentNever, "the completion handler was not called before the time was over; iOS gives 30 seconds")]
    }
    var findings: [Finding] = []
    if request.answers.count > 1 {
      findings.append(Finding(.silentTwice, "the completion handler was called \(request.answers.count) times"))
    }
    let fetched = evidence.transfers.filter { transfer in
      guard let end = transfer.end else { return false }
      return end.at <= completed && end.result.code == 0 && end.result.status < 400 && end.result.bytes > 0
    }
    let result = request.results.first ?? ""
    if result == "newData", fetched.isEmpty {
      findings.append(Finding(.silentNewData, "the completion handler received .newData, and nothing had been fetched"))
    }
    if result != "newData", let first = fetched.first {
      findings.append(Finding(.silentNoData, "the completion handler received .\(result), and \(first.url) had been fetched"))
    }
    let after = evidence.transfers.filter { transfer in transfer.end.map { $0.at > completed } ?? true }
    if let first = after.first {
      findings.append(Finding(.silentAfter, "the download of \(first.url) went on after the completion handler was called"))
    }
    return findings
  }
}
