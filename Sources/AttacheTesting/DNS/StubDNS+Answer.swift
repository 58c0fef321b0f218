public import Attache

extension StubDNS {
  /// The server's behavior for a name.
  public indirect enum Answer: Sendable {
    /// The addresses of the requested family, with their time to live in seconds. Addresses of the
    /// other family are omitted.
    case addresses([IPAddress], ttl: UInt32 = 60)
    /// A chain of aliases and the addresses of the last alias. The first alias is the target of the
    /// requested name.
    case aliases([String], [IPAddress], ttl: UInt32 = 60)
    /// Aliases that lead back to the requested name.
    case aliasLoop([String])
    /// NXDOMAIN.
    case noSuchName
    /// The name exists but has no record of this type.
    case noData
    /// SERVFAIL.
    case serverFailure
    /// REFUSED.
    case refused
    /// No answer until ``StubDNS/release(_:with:)``.
    case silence
    /// Another answer, after a delay.
    case delayed(Duration, Answer)
    /// One answer after another for each question (name and type). The last answer repeats. A
    /// retransmitted query counts as a new one.
    case sequence([Answer])
    /// Separate answers for A and AAAA queries.
    case perFamily(v4: Answer, v6: Answer)
    /// Only the truncation flag over UDP, and the answer over TCP.
    case truncated(Answer)
    /// The answer with an identifier that differs from the query's.
    case wrongIdentifier(Answer)
    /// The answer with the right identifier but a question that was not asked.
    case wrongQuestion(Answer)
    /// These bytes, unchanged.
    case garbage([UInt8])
  }

  /// The action to take for one query.
  enum Reply: Hashable, Sendable {
    case send([UInt8])
    case hold
    indirect case later(Duration, Reply)
  }
}

extension StubDNS.Answer {
  /// Returns the action for a query.
  ///
  /// - Parameters:
  ///   - earlier: the number of earlier queries with the same question.
  ///   - overTCP: whether the query arrived over TCP. Over UDP, an answer above 512 bytes is
  ///     truncated, as servers do (RFC 1035, 4.2.1).
  func reply(to query: DNSMessage, earlier: Int, overTCP: Bool) -> StubDNS.Reply {
    switch self {
    case .silence: .hold
    case .garbage(let bytes): .send(bytes)
    case .delayed(let delay, let answer): .later(delay, answer.reply(to: query, earlier: earlier, overTCP: overTCP))
    case .sequence(let answers):
      answers.isEmpty ? .hold : answers[min(earlier, answers.count - 1)].reply(to: query, earlier: earlier, overTCP: overTCP)
    case .perFamily(let v4, let v6):
      (query.questions.first?.type == .aaaa ? v6 : v4).reply(to: query, earlier: earlier, overTCP: overTCP)
    case .truncated(let answer):
      overTCP ? answer.reply(to: query, earlier: earlier, overTCP: true) : .send(query.truncatedResponse.bytes)
    case .wrongIdentifier(let answer):
      answer.reply(to: query.changing { $0.identifier ^= 0xFFFF }, earlier: earlier, overTCP: overTCP)
    case .wrongQuestion(let answer):
      answer.reply(to: query.changing { $0.questions = [.init(name: "not.asked.example", type: .a)] }, earlier: earlier, overTCP: overTCP)
    case .addresses, .aliases, .aliasLoop, .noSuchName, .noData, .serverFailure, .refused:
      send(response(to: query), to: query, overTCP: overTCP)
    }
  }

  private func send(_ response: DNSMessage, to query: DNSMessage, overTCP: Bool) -> StubDNS.Reply {
    let bytes = response.bytes
    return .send(overTCP || bytes.count <= 512 ? bytes : query.truncatedResponse.bytes)
  }

  private func response(to query: DNSMessage) -> DNSMessage {
    guard let question = query.questions.first else { return query.response(.formatError) }
    switch self {
    case .addresses(let addresses, let ttl): return query.response(records: Self.records(addresses, of: question.name, question.type, ttl))
    case .aliases(let names, let addresses, let ttl):
      let chain = Self.chain([question.name] + names, ttl)
      return query.response(records: chain + Self.records(addresses, of: names.last ?? question.name, question.type, ttl))
    case .aliasLoop(let names): return query.response(records: Self.chain([question.name] + names + [question.name], 60))
    case .noSuchName: return query.response(.noSuchName)
    case .serverFailure: return query.response(.serverFailure)
    case .refused: return query.response(.refused)
    case .noData, .silence, .delayed, .sequence, .perFamily, .truncated, .wrongIdentifier, .wrongQuestion, .garbage: return query.response()
    }
  }

  private static func records(
    _ addresses: [IPAddress], of name: String, _ type: DNSMessage.RecordType, _ ttl: UInt32
  ) -> [DNSMessage.Record] {
    addresses.map { DNSMessage.Record(name: name, ttl: ttl, data: .address($0)) }.filter { $0.data.type == type }
  }

  private static func chain(_ names: [String], _ ttl: UInt32) -> [DNSMessage.Record] {
    zip(names, names.dropFirst()).map { DNSMessage.Record(name: $0, ttl: ttl, data: .alias($1)) }
  }
}

extension DNSMessage {
  /// Returns the answer to this query.
  func response(_ code: ResponseCode = .success, records: [Record] = []) -> DNSMessage {
    DNSMessage(identifier: identifier, isResponse: true, responseCode: code, questions: questions, answers: records)
  }

  /// The truncated answer, which makes the client retry over TCP.
  var truncatedResponse: DNSMessage {
    response().changing { $0.isTruncated = true }
  }

  func changing(_ change: (inout DNSMessage) -> Void) -> DNSMessage {
    var copy = self
    change(&copy)
    return copy
  }
}
