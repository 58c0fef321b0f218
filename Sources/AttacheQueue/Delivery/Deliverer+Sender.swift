internal import Attache

extension Deliverer: SenderOwner {
  public func take(_ answers: [(token: LeaseToken, answer: DeliveryAnswer)]) {
    guard !answers.isEmpty else { return }
    let (now, wall) = (machine.now, queueClock.wall)
    note { state in
      for (token, answer) in answers { state.note(token, answer, at: now, wall: wall, jitter: { machine.randomFraction }) }
    }
    send()
    inbox.change { $0.hasNews = true }
  }

  public func restarted() {
    note { $0.noteRestart() }
  }
}
