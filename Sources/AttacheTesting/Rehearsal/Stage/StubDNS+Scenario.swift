extension StubDNS.Answer {
  /// Converts the script of a name into an answer.
  init(_ script: NameScript) {
    let answers = script.turns.map { turn in
      let answer = Self(turn.answer, timeToLive: script.timeToLive)
      return turn.delay > .zero ? .delayed(turn.delay, answer) : answer
    }
    self = answers.count == 1 ? answers[0] : .sequence(answers)
  }

  private init(_ answer: NameScript.Answer, timeToLive: UInt32) {
    self =
      switch answer {
      case .addresses(let addresses): .addresses(addresses, ttl: timeToLive)
      case .aliases(let names, let addresses): .aliases(names, addresses, ttl: timeToLive)
      case .loop: .aliasLoop([])
      case .none: .noSuchName
      case .noData: .noData
      case .truncated: .truncated(.silence)
      case .failure: .serverFailure
      case .stall: .silence
      }
  }
}

extension Timeline {
  /// Records an event at a name server.
  func note(_ event: StubDNS.Event) {
    switch event {
    case .asked(let question): note(.dns, "asked for \(question.name), \(question.type.text)")
    case .answered(let message):
      let name = message.questions.first.map { "\($0.name), \($0.type.text)" } ?? "nothing"
      note(.dns, "answers \(name): \(message.meaning)")
    }
  }
}

extension DNSMessage {
  /// A short description of an answer.
  fileprivate var meaning: String {
    switch responseCode {
    case .success: answers.isEmpty ? "no address" : answers.map(\.data.text).joined(separator: ", ")
    case .noSuchName: "no such name"
    case .serverFailure: "the server fails"
    case .formatError, .notImplemented, .refused: "refused"
    }
  }
}

extension DNSMessage.RecordType {
  fileprivate var text: String {
    switch self {
    case .a: "A"
    case .aaaa: "AAAA"
    default: "type \(rawValue)"
    }
  }
}

extension DNSMessage.RecordData {
  fileprivate var text: String {
    switch self {
    case .address(let address): "\(address)"
    case .alias(let name): name
    case .other(let type, _): type.text
    }
  }
}
