internal import Attache

extension ExtensionEvidence {
  /// Returns what happened, in order of time, from the first request on.
  func timeline(of kind: ExtensionKind) -> [TimelineEvent] {
    guard let start = requests.compactMap(\.began).min() else { return [] }
    var events: [(at: MonotonicInstant, actor: TimelineEvent.Actor, text: String)] = []
    for (index, request) in requests.enumerated() {
      if let session = request.session {
        events += request.eventsOfSession(session)
        continue
      }
      let (noun, method, handler) =
        switch kind {
        case .serviceExtension: ("notification", "didReceive", "content handler")
        case .appDelegate: ("push", "the app's method", "completion handler")
        }
      let name = requests.count { $0.session == nil } > 1 ? "\(noun) \(index + 1)" : "the \(noun)"
      if let began = request.began { events.append((began, .payload, "\(name) reaches \(method)")) }
      if let returned = request.returned { events.append((returned, .filter, "\(method) returns")) }
      if let expired = request.expired { events.append((expired, .filter, "serviceExtensionTimeWillExpire is called")) }
      for (call, answer) in request.answers.enumerated() {
        let files = call == 0 ? request.attached.map { $0.attachment.path.string.split(separator: "/").last.map(String.init) ?? "" } : []
        let what = files.isEmpty ? "" : " with \(files.joined(separator: ", "))"
        events.append((answer, .decision, "the \(handler) is called\(call == 0 ? "" : " again")\(what)"))
      }
    }
    for transfer in transfers {
      events.append((transfer.began, .origin, "GET \(transfer.url)"))
      guard let (at, result) = transfer.end else { continue }
      let end =
        switch result.code {
        case 0: "status \(result.status)"
        case -1: "cancelled"
        case ExtensionTransfer.insecure: "refused, since it is plain http"
        default: "failed (libcurl \(result.code))"
        }
      events.append((at, .origin, "\(transfer.url): \(end), \(result.bytes) bytes"))
    }
    return events.sorted { $0.at < $1.at }.map { event in
      let text = PrintableText.of(event.text, maximumLength: ExtensionRehearsal.maximumText)
      return TimelineEvent(at: start.duration(to: event.at), event.actor, text)
    }
  }
}

extension ExtensionEvidence.Request {
  /// What happened when the app was told of a background session's events.
  fileprivate func eventsOfSession(
    _ session: UntrustedText
  ) -> [(at: MonotonicInstant, actor: TimelineEvent.Actor, text: String)] {
    let name = "handleEventsForBackgroundURLSession (\(session.string))"
    let events = [
      (began, "the app was started again: \(name)"), (returned, "\(name) returns"), (answers.first, "its completion handler is called"),
    ]
    return events.compactMap { instant, text in instant.map { ($0, .filter, text) } }
  }
}
