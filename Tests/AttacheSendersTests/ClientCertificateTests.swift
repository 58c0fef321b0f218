import AttacheQueue
import AttacheTesting
import Testing

@testable import AttacheSenders

/// A client certificate instead of provider tokens.
@Suite(.timeLimit(.minutes(1)))
struct ClientCertificateTests {
  @Test func `a server that verifies certificates takes ours, and sees no token`() async throws {
    let server = try await PushServer.startAPNs(tls: .clientCertificate)
    let file = try server.makeClientCertificateFile()
    try await APNsTest.run(server) { configuration in
      configuration.credentials = .certificate(file)
    } _: { test in
      #expect(await test.answers(to: (1...3).map { APNsTest.line($0) }) == Array(repeating: .delivered(status: "200"), count: 3))
      #expect(server.requests.count == 3)
      #expect(server.requests.allSatisfy { $0.field("authorization") == nil && $0.field("apns-topic") == "com.example.app" })
      #expect(server.connectionCount == 1)
    }
  }

  @Test func `a certificate that somebody else vouches for is refused in words, and nothing is sent`() async throws {
    let (server, other) = (try await PushServer.startAPNs(tls: .clientCertificate), try await PushServer.startAPNs(tls: .clientCertificate))
    let file = try other.makeClientCertificateFile()
    try await APNsTest.run(server) { configuration in
      configuration.credentials = .certificate(file)
    } _: { test in
      guard case .refused(let reason) = await test.answers(to: [APNsTest.line()]).first else { return #expect(Bool(false)) }
      #expect(reason.contains("the server does not accept the client's certificate: "), "\(reason)")
      #expect(server.requestCount == 0)
    }
    await other.stop()
  }

  @Test func `a file without a certificate or without its key is refused before anything is sent`() async throws {
    let server = try await PushServer.startAPNs(tls: .clientCertificate)
    for (path, reason) in [
      ("/missing/client.pem", "the certificate in /missing/client.pem cannot be used: "),
      (server.rootCertificatePEMFile, "the private key in \(server.rootCertificatePEMFile) cannot be used with its certificate: "),
    ] {
      var configuration = APNsConfiguration(
        endpoint: PushEndpoint(host: "127.0.0.1", port: UInt16(server.port)), credentials: .certificate(path))
      configuration.rootCertificates = server.rootCertificatePEMFile
      let sender = try APNsSender(configuration)
      let error = #expect(throws: SenderSetupError.self) { try sender.start(AnswerRecorder()) }
      #expect(error?.description.hasPrefix(reason) == true, "\(String(describing: error))")
      sender.close()
    }
    await server.stop()
  }
}
