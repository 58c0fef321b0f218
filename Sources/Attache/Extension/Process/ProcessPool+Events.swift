extension ProcessPool {
  /// Handles what a process reports.
  func take(_ event: ExtensionEvent, from process: ExtensionProcess) {
    observe?(.event(event), loop.now)
    switch event {
    case .ready(let version, _):
      guard version == ExtensionProcesses.version else {
        say("the service extension was built by another version of attache; build it again with attache extension build")
        end(process, verdict: .extensionCrash)
        return noteFailedStart()
      }
      process.isReady = true
      pause.reset()
    case .answer(let number, _, let answer):
      guard let call = process.calls[number] else { return }
      call.end(.answered(answer, transfers: call.transfers))
      if configuration.finishesAnswered { finish(call) }
    case .completed(let number, _, _):
      guard let call = process.calls[number] else { return }
      call.end(.answered(ExtensionAnswer(), transfers: call.transfers))
    case .unreadable(let number, let why):
      guard let call = process.calls[number] else { return }
      say("the service extension's answer is not used: \(PrintableText.of(why))")
      call.end(.failed(.extensionContent))
      if configuration.finishesAnswered { finish(call) }
    case .transferBegan(let number, let url):
      if process.transfers.count < 256 { process.transfers[number] = UntrustedText(url) }
    case .transferEnded(let number, var transfer):
      // The payload has the URL before redirects.
      if let url = process.transfers.removeValue(forKey: number) { transfer.url = url }
      for call in process.calls.values where call.transfers.count < 256 { call.transfers.append(transfer) }
    case .began, .returned, .expired, .finished, .refusedAttachment, .note, .background: break
    }
  }
}
