import AttacheTesting

/// Runs a test with an origin, then stops the origin.
func withOrigin<Result>(
  tls: FaultOrigin.TLS = .none, isolation: isolated (any Actor)? = #isolation, _ body: (FaultOrigin) async throws -> Result
) async throws -> Result {
  let origin = try await FaultOrigin.start(tls: tls)
  do {
    let result = try await body(origin)
    await origin.stop()
    return result
  } catch {
    await origin.stop()
    throw error
  }
}
