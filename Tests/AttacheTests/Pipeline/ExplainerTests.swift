import Dispatch
import Synchronization
import Testing

@testable import Attache

@Suite(.timeLimit(.minutes(1))) struct ExplainerTests {
  @Test func `an explanation that nobody takes holds up nobody`() throws {
    let isTaken = DispatchSemaphore(value: 0)
    let told = Mutex<[Reason]>([])
    let explainer = try Explainer(machine: SystemMachine(), showing: .short) { explanation in
      isTaken.wait()
      told.withLock { $0.append(explanation.reason) }
    }
    explainer.add(.deadline, of: 1, [])
    explainer.add(.httpStatus, of: 2, [])
    explainer.add(.deadline, of: 3, [])
    isTaken.signal()
    isTaken.signal()
    explainer.finish()
    #expect(told.withLock { $0 } == [.deadline, .httpStatus])
  }

  /// The lines that are told of.
  private func told(_ body: (Explainer) -> Void) throws -> [String] {
    let told = Mutex<[String]>([])
    let explainer = try Explainer(machine: SystemMachine(), showing: .short) { explanation in
      told.withLock { $0.append("\(explanation)") }
    }
    body(explainer)
    explainer.finish()
    return told.withLock { $0 }
  }

  @Test func `each status and each type is an example of its own`() throws {
    func failed(_ reason: Reason, _ status: Int?, _ explanation: String) -> [MediaRecord] {
      var medium = MediaRecord(url: "u", reason: reason, status: status)
      medium.explanation = explanation
      return [medium]
    }
    let told = try told { explainer in
      for (line, status) in [404, 404, 403, 503, 403].enumerated() {
        explainer.add(.httpStatus, of: line, failed(.httpStatus, status, "\(status)"))
      }
      for (line, text) in ["text/html", "image/webp", "text/html"].enumerated() {
        explainer.add(.typeUnsupported, of: line, failed(.typeUnsupported, 200, "the bytes are \(text)"))
      }
      for (line, place) in ["/0/richContent", "/ab/att", "/1/richContent"].enumerated() {
        explainer.add(.payloadForm, of: line, failed(.payloadForm, nil, "\(place) is a string"))
      }
      for line in 1...3 { explainer.add(.sizeImage, of: line, failed(.sizeImage, 200, "the image has \(line) bytes")) }
    }
    #expect(
      told == [
        "line 0: http.status u: 404", "line 2: http.status u: 403", "line 3: http.status u: 503",
        "line 0: type.unsupported u: the bytes are text/html", "line 1: type.unsupported u: the bytes are image/webp",
        "line 0: payload.form u: /0/richContent is a string", "line 1: payload.form u: /ab/att is a string",
        "line 1: size.image u: the image has 1 bytes",
      ])
  }

  @Test func `what an explanation quotes is no detail, also with a quote in it`() throws {
    let told = try told { explainer in
      for (line, text) in ["data:a'a", "data:bbb'b", "data:'", "data:cc"].enumerated() {
        var medium = MediaRecord(url: "u", reason: .policyScheme, status: nil)
        medium.explanation = "'\(text)' contains the file itself (scheme 'data'); publish the file"
        explainer.add(.policyScheme, of: line, [medium])
      }
    }
    #expect(told.count == 1, "\(told)")
  }

  @Test func `a medium that an attached line lacks has its reason, or that of its payload`() {
    var decision = Decision(form: .original, outcome: .attached)
    decision.media = [nil, .httpStatus, nil].map { MediaRecord(url: "u", reason: $0, status: nil) }
    decision.refuse(last: 2, for: .payloadMaximum)
    #expect(decision.media.map(\.reason) == [nil, .httpStatus, .payloadMaximum])
    #expect(decision.media.missing(from: .attached) == .httpStatus)
    #expect(decision.media.missing(from: .fallback) == nil)
    #expect(decision.media.prefix(1).map(\.self).missing(from: .attached) == nil)
  }

  @Test func `strangers cannot fill the log with details`() throws {
    let told = try told { explainer in
      for status in 0..<1_000 {
        explainer.add(.httpStatus, of: status, [MediaRecord(url: "u", reason: .httpStatus, status: status)])
      }
    }
    #expect(told.count == ExplanationLedger.maximumDetails + 1)
  }

  @Test func `an ordinary reason is told once, for ever`() throws {
    let told = try told { explainer in
      for line in 1...3 { for reason in Reason.ordinary { explainer.add(reason, of: line) } }
    }
    #expect(told.map { $0.prefix { $0 != "p" } } == Reason.ordinary.map { _ in "line 1: " })
  }

  @Test func `each cause at one place is an example of its own, whatever it quotes`() throws {
    let place = JSONPointer(parts: ["image"])
    let slips = ["'www.a' has no scheme", "'www.bb' has no scheme"].map(UnreadMedia.Cause.slip)
    let causes = [.relative, .unknownPlace] + slips + [.relative]
    let told = try told { explainer in
      for (line, cause) in causes.enumerated() {
        explainer.add(.payloadUnreadMedia, of: line, [], .unread(UnreadMedia(place: place, cause: cause)))
      }
      for (line, cause) in [LineCause.foreign, .dataMessage, .foreign, .liveActivity].enumerated() {
        explainer.add(.payloadNoAlert, of: line, [], cause)
      }
    }
    let lines = told.map { $0.prefix { $0 != ":" } }
    #expect(lines == ["line 0", "line 1", "line 2", "line 0", "line 1", "line 3"], "\(told)")
  }

  @Test func `a mistake is told with its column, once for each kind`() throws {
    let told = try told { explainer in
      for (line, text) in [#"{"a":1,}"#, #"{"é":1,"b":2,}"#, "{'a':1}"].enumerated() {
        explainer.add(.payloadJSON, of: line + 1, [], .json(JSONMistake(text)))
      }
    }
    #expect(
      told == [
        "line 1, column 8: payload.json: a comma stands before the closing bracket; remove it",
        "line 3, column 2: payload.json: the quotes are single; JSON has only double ones (in Python, json.dumps writes them)",
      ])
  }
}
