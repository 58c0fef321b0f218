import Testing

@testable import Attache

@Suite struct S3UploadStateTests {
  /// The responses of a store, and what becomes of the upload.
  private static let cases: [(String, [S3Answer], S3UploadState.Action)] = [
    ("young", [answer(200, age: 60)], .published(age: .seconds(60))),
    ("from the future", [answer(200, age: -5)], .published(age: .zero)),
    ("old", [answer(200, age: 86_400), answer(200)], .published(age: .zero)),
    ("without dates", [answer(200), answer(200)], .published(age: .zero)),
    ("absent", [answer(404), answer(200)], .published(age: .zero)),
    ("absent, another worker is faster", [answer(404), answer(412)], .published(age: .zero)),
    ("absent, without the right to list", [answer(403), answer(200)], .published(age: .zero)),
    ("there, without the right to read", [answer(403), answer(412), answer(200)], .published(age: .zero)),
    ("no conditional requests", [answer(404), answer(501), answer(200)], .published(age: .zero)),
    ("deleted meanwhile", [answer(200, age: 86_400), answer(404), answer(200)], .published(age: .zero)),
    ("503, then good", [answer(404), answer(503), answer(200)], .published(age: .zero)),
    ("no response, then good", [S3Answer(failure: "reset"), answer(404), answer(200)], .published(age: .zero)),
    ("503 twice", [answer(503), answer(503)], .failed(explanation: "the bucket's server answered 503, again")),
    ("conflicts twice", [answer(404), answer(409), answer(409)], .failed(explanation: "the bucket's server answered 409, again")),
    (
      "no right", [answer(403), answer(403, "AccessDenied")],
      .refused(
        explanation:
          "the bucket's server answered 403 AccessDenied: give the key the right to put, get and delete objects below --upload")
    ),
    (
      "no bucket", [answer(404), answer(404, "NoSuchBucket")],
      .refused(explanation: "the bucket's server answered 404 NoSuchBucket: create the bucket, or correct --upload")
    ),
    (
      "wrong clock", [answer(403), answer(403, "RequestTimeTooSkewed")],
      .refused(explanation: "the bucket's server answered 403 RequestTimeTooSkewed: the clock of this machine is wrong; set it")
    ),
    (
      "other region", [answer(301, region: "eu-west-1")],
      .refused(explanation: "the bucket's server answered 301: the bucket is in --upload-region eu-west-1")
    ),
  ]

  private static func answer(_ status: Int, _ code: String = "", age: Int64? = nil, region: String = "") -> S3Answer {
    S3Answer(status: status, code: code, age: age.map { .seconds($0) }, region: region)
  }

  @Test(arguments: cases.indices) func `an upload ends as the store's responses say`(_ index: Int) throws {
    let (name, answers, end) = Self.cases[index]
    var state = S3UploadState(keep: .seconds(3_600), isConditional: true)
    var actions: [S3UploadState.Action] = []
    for answer in answers { actions.append(state.handle(answer)) }
    #expect(actions.last == end, "\(name)")
    for action in actions.dropLast() {
      switch action {
      case .send, .sendAgain: break
      case .published, .failed, .refused: Issue.record("\(name): it ended early: \(action)")
      }
    }
  }

  @Test func `an object is put only if there is none, and the server's lack of that is remembered`() {
    var state = S3UploadState(keep: .seconds(60), isConditional: true)
    #expect(state.handle(S3Answer(status: 404)) == .send(.put(isConditional: true)))
    #expect(state.handle(S3Answer(status: 501)) == .send(.put(isConditional: false)))
    #expect(!state.isConditional)
  }

  @Test func `an error's code is taken from its body if it is harmless`() {
    #expect(S3Answer.code(in: Array("<?xml?><Error><Code>AccessDenied</Code><Message>x</Message></Error>".utf8)) == "AccessDenied")
    for body in [
      "", "<Code>", "</Code><Code>", "<Code>\u{1B}[2J</Code>", "<Code>\(String(repeating: "a", count: 65))</Code>", "<Code>a b</Code>",
    ] {
      #expect(S3Answer.code(in: Array(body.utf8)).isEmpty, "\(body)")
    }
  }
}
