import AttacheTesting

/// Runs a test with a simulated server of Google, and stops that.
func withFCMServer(
  _ respond: @escaping @Sendable (PushServerRequest) -> PushServerAnswer = { _ in .delivered },
  _ body: (PushServer, GoogleAccount) async throws -> Void
) async throws {
  let account = GoogleAccount()
  let server = try await PushServer.startFCM(account: account, respond: respond)
  do {
    try await body(server, account)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}
