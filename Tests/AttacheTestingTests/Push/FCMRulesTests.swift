import AttacheTesting
import NIOHTTP1
import Testing

/// The rules of ``PushServer`` as Google's push service.
@Suite(.timeLimit(.minutes(1)))
struct FCMRulesTests {
  private static let device = "bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1"

  private static func body(_ members: String) -> String { #"{"message":{"token":"\#(device)"\#(members)}}"# }

  @Test func `a message is accepted, named and counted by its receiver`() async throws {
    try await FCMClient.run { client in
      let token = try await client.accessToken()
      let everything = """
        {"validateOnly":false,"message":{"name":"","data":{"a":"1"},"notification":{"title":"T","body":"B","image":"https://x.example/i"},
        "android":{"priority":"high"},"webpush":{},"apns":{"payload":{"aps":{}}},"fcm_options":{},"token":"\(Self.device)","topic":null}}
        """
      let answer = try await client.send(everything, token: token, contentType: "application/json; charset=utf-8")
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.fields["content-type"] == ["application/json; charset=UTF-8"])
      let name = try #require(answer.name)
      let match = name.wholeMatch(of: /projects\/example-project\/messages\/0:[0-9]{16}%[0-9a-f]{16}/)
      #expect(match != nil, "\(name)")
      for _ in 1...2 { _ = try await client.send(#"{"message":{"condition":"'a' in topics"}}"#, token: token) }
      #expect(client.server.attempts == [Self.device: 1, "'a' in topics": 2] && client.server.delivered == client.server.attempts)
      #expect(client.server.requests.map(\.deviceToken) == [Self.device, "", ""])
      #expect(client.server.requests.map(\.attempt) == [1, 1, 2])
    }
  }

  @Test(arguments: [
    (400, "INVALID_ARGUMENT", "INVALID_ARGUMENT"), (401, "THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED"),
    (403, "SENDER_ID_MISMATCH", "PERMISSION_DENIED"), (404, "UNREGISTERED", "NOT_FOUND"), (429, "QUOTA_EXCEEDED", "RESOURCE_EXHAUSTED"),
    (500, "INTERNAL", "INTERNAL"), (503, "UNAVAILABLE", "UNAVAILABLE"),
  ])
  func `an error has Google's form`(status: Int, code: String, name: String) async throws {
    try await FCMClient.run(respond: { _ in .error(status, code, retryAfter: "9") }) { client in
      let answer = try await client.send(Self.body(""), token: try await client.accessToken())
      #expect(answer.status == UInt(status) && answer.statusName == name && answer.message?.isEmpty == false)
      #expect(answer.types == ["firebase.fcm.v1.FcmError"] && answer.errorCode == code)
      #expect(answer.fields["retry-after"] == ["9"])
      #expect(client.server.delivered.isEmpty)
    }
  }

  @Test func `an error without a code has no details`() async throws {
    try await FCMClient.run(respond: { _ in .error(503, nil) }) { client in
      let answer = try await client.send(Self.body(""), token: try await client.accessToken())
      #expect(
        answer.text == #"{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}"#)
    }
  }

  @Test func `a request to the wrong place, in the wrong way or for another project is refused`() async throws {
    try await FCMClient.run { client in
      let token = try await client.accessToken()
      let answers = [
        try await client.send(Self.body(""), token: token, path: "/fcm/send"), try await client.send("", token: token, method: .GET),
        try await client.send(Self.body(""), token: "ya29.other"), try await client.send(Self.body(""), token: token, project: "other"),
        try await client.send(Self.body(""), token: token, contentType: "text/plain"),
      ]
      #expect(answers.map(\.status) == [404, 405, 401, 403, 400])
      #expect(answers.map(\.types) == [[], [], [], ["rpc.ErrorInfo"], []])
      #expect(answers.map(\.statusName) == ["NOT_FOUND", "UNKNOWN", "UNAUTHENTICATED", "PERMISSION_DENIED", "INVALID_ARGUMENT"])
      #expect(client.server.requestCount == 5)
    }
  }

  private static let long = String(repeating: "x", count: 4_094)
  /// Bodies, and the paths of their wrong fields. FcmError is among the details if `hasCode`.
  private static let mistakes: [(body: String, field: String?, hasCode: Bool)] = [
    ("no JSON", nil, false), ("[]", nil, false), ("\u{FEFF}{}", nil, false), ("{}", "message.token", true),
    (#"{"message":[]}"#, "message", false), (#"{"x":1,"message":{}}"#, nil, false), (#"{"validate_only":1}"#, "validate_only", false),
    (body(#","x":1"#), "message", false), (body(#","android":"high""#), "message.android", false),
    (body(#","name":1"#), "message.name", false), (body(#","topic":"weather""#), "message", true),
    (#"{"message":{"token":""}}"#, "message.token", true), (#"{"message":{"token":"bk3RNwTe3H0"}}"#, "message.token", true),
    (#"{"message":{"token":"bk3RNwTe3H0 CI2k_HHwgIpo"}}"#, "message.token", true),
    (#"{"message":{"topic":"/topics/weather"}}"#, "message.topic", true),
    (body(#","data":{"a":"1","b":12}"#), "message.data[1].value", false), (body(#","data":{"from":"x"}"#), "message.data", true),
    (body(#","notification":{"sound":"x"}"#), "message.notification", false), (body(#","data":{"abc":"\#(long)"}"#), "message", true),
    (body(#","apns":{"payload":{"a":"\#(long)"}}"#), "message.apns.payload", true),
  ]

  @Test(arguments: mistakes)
  func `a body that breaks a rule is refused, and the wrong field is named`(body: String, field: String?, hasCode: Bool) async throws {
    try await FCMClient.run { client in
      let answer = try await client.send(body, token: try await client.accessToken())
      #expect(answer.status == 400 && answer.statusName == "INVALID_ARGUMENT")
      #expect(answer.field == field, "\(answer.text)")
      #expect(answer.errorCode == (hasCode ? "INVALID_ARGUMENT" : nil))
    }
  }

  @Test func `the limits of the sizes belong to what is accepted`() async throws {
    try await FCMClient.run { client in
      let token = try await client.accessToken()
      let data = try await client.send(Self.body(#","data":{"ab":"\#(Self.long)"}"#), token: token)
      let payload = try await client.send(Self.body(#","apns":{"payload": {"a": "\#(Self.long.dropLast(6))"} }"#), token: token)
      #expect(data.status == 200 && payload.status == 200)
    }
  }

  @Test func `an unknown name is refused as Google says it`() async throws {
    try await FCMClient.run { client in
      let answer = try await client.send(#"{"x":1}"#, token: try await client.accessToken())
      #expect(answer.message == #"Invalid JSON payload received. Unknown name "x": Cannot find field."#)
      #expect(answer.types == ["rpc.BadRequest"])
    }
  }
}
