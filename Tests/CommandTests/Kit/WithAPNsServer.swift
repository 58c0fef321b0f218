import AttacheTesting

/// Runs a test with a simulated Apple server, and stops that.
func withAPNsServer(
  tls: FaultOrigin.TLS = .selfMade(), channels: Set<String> = [],
  _ respond: @escaping @Sendable (PushServerRequest) -> PushServerAnswer = { _ in .delivered },
  _ body: (PushServer, ProviderTokenCheck) async throws -> Void
) async throws {
  let tokens = ProviderTokenCheck()
  let server = try await PushServer.startAPNs(
    tls: tls, tokens: tls == .clientCertificate ? nil : tokens, channels: channels, respond: respond)
  do {
    try await body(server, tokens)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}
