internal import Attache

/// Finds what an app's delegate does wrong with silent pushes.
struct DelegateJudge {
  private let evidence: ExtensionEvidence
  private let pushes: [ExtensionEvidence.Request]
  private let time: RehearsedTime

  /// - Parameter priority: the `apns-priority` of the payload's envelope.
  static func findings(
    _ situation: ExtensionSituation, _ evidence: ExtensionEvidence, _ time: RehearsedTime, priority: Int?
  ) -> [Finding] {
    var findings = ExtensionJudge.findings(of: evidence.deaths, evidence)
    if priority == 10, situation.isSilent {
      findings.append(Finding(.silentPriority, "the payload's envelope says apns-priority 10, and the push shows nothing"))
    }
    guard evidence.deaths.isEmpty else { return findings }
    let judge = DelegateJudge(evidence: evidence, pushes: evidence.requests.filter { $0.session == nil }, time: time)
    for (index, push) in judge.pushes.enumerated() {
      findings += judge.findings(of: push, number: judge.pushes.count > 1 ? index + 1 : nil)
    }
    for request in evidence.requests {
      if let session = request.session { findings += judge.findings(of: request, session) }
    }
    return findings
  }

  private func findings(of push: ExtensionEvidence.Request, number: Int?) -> [Finding] {
    guard let completed = push.answers.first, !push.isUnanswered else {
      return [Finding(.silentNever, payload: number, "the completion handler was not called before the time was over (\(time.words))")]
    }
    var findings: [Finding] = []
    func add(_ kind: Finding.Kind, _ message: String) { findings.append(Finding(kind, payload: number, message)) }
    if push.answers.count > 1 { add(.silentTwice, "the completion handler was called \(push.answers.count) times") }
    let transfers = transfers(of: push)
    let fetched = transfers.filter { transfer in
      guard let end = transfer.end else { return false }
      return end.at <= completed && end.result.code == 0 && end.result.status < 400 && end.result.bytes > 0
    }
    let result = push.results.first ?? ""
    // A background session fetches after the app has ended, so nobody knows yet.
    let fetchesLater = evidence.background.contains { $0.event == .started }
    if result == "newData", fetched.isEmpty, !fetchesLater {
      add(.silentNewData, "the completion handler received .newData, and nothing had been fetched")
    }
    if result != "newData", let first = fetched.first {
      add(.silentNoData, "the completion handler received .\(result), and \(first.url) had been fetched")
    }
    if let first = transfers.first(where: { transfer in transfer.end.map { $0.at > completed } ?? true }) {
      add(.silentAfter, "the download of \(first.url) went on after the completion handler was called")
    }
    return findings
  }

  /// Returns the transfers of a push: those of the file that it names, and those that no push names.
  private func transfers(of push: ExtensionEvidence.Request) -> [ExtensionEvidence.Transfer] {
    evidence.transfers.filter { transfer in
      !transfer.isInBackground && (push.names(transfer.url) || !pushes.contains { $0.names(transfer.url) })
    }
  }

  /// Judges how the app receives the files of a background session.
  private func findings(of request: ExtensionEvidence.Request, _ session: UntrustedText) -> [Finding] {
    let after = evidence.background.dropFirst(evidence.backgroundBeforeRestart)
    let isCreated = after.contains { $0.event == .created && $0.session == session }
    let lost = evidence.outlivingDownloads.first { download in
      download.session == session && !after.contains { $0.event == .delivered && $0.isSameDownload(as: download) }
    }
    var findings: [Finding] = []
    if let lost {
      let cause = isCreated ? "the session's delegate takes no downloads" : "the app did not create the session again"
      findings.append(Finding(.backgroundLost, "\(cause) (\(session.string)), so nobody receives \(lost.url.string)"))
    }
    let handler = "the completion handler of handleEventsForBackgroundURLSession was"
    guard !request.isUnanswered else {
      return findings + [Finding(.backgroundUnfinished, "\(handler) not called before the time was over")]
    }
    switch request.results.first {
    case "early" where isCreated: findings.append(Finding(.backgroundHandler, "\(handler) called before urlSessionDidFinishEvents"))
    case "off-main-thread": findings.append(Finding(.backgroundHandler, "\(handler) called on another thread than the main thread"))
    default: break
    }
    if request.answers.count > 1 { findings.append(Finding(.backgroundHandler, "\(handler) called \(request.answers.count) times")) }
    return findings
  }
}

extension ExtensionEvidence.Request {
  /// Whether the payload has a URL.
  fileprivate func names(_ url: String) -> Bool {
    // An app may add a query.
    payload.firstRange(of: Array(url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })) != nil
  }
}
