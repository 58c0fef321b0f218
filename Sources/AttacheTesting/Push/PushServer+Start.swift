internal import NIOCore
internal import NIOPosix
internal import NIOSSL

extension PushServer {
  /// Starts a server that plays Apple's push service. The caller must stop it.
  ///
  /// - Parameters:
  ///   - port: the port to listen on; 0 selects a free one.
  ///   - tls: the quality of the server's certificate, and whether the server requires a client
  ///     certificate.
  ///   - keys: a folder that keeps the root certificate and its key; nil makes new ones.
  ///   - tokens: the check for provider tokens; nil accepts requests without tokens.
  ///   - topics: the accepted topics. The apps with these bundle identifiers may broadcast.
  ///   - channels: the identifiers of the channels that exist.
  ///   - maximumStreams: the maximum number of concurrent streams per connection.
  ///   - fault: the fault for every connection, instead of all other behavior.
  ///   - keepsRequests: false for a server that receives many requests: it counts them and keeps
  ///     none.
  ///   - respond: called with each request that breaks no rule, on the thread of its connection.
  ///   - watch: called with each request and its answer, on the thread of its connection.
  /// - Throws: ``OriginError`` when the certificate cannot be made or the port cannot be bound.
  public static func startAPNs(
    port: Int = 0, tls: FaultOrigin.TLS = .selfMade(), keys: KeyFolder? = nil, tokens: ProviderTokenCheck? = nil,
    topics: Set<String> = ["com.example.app"], channels: Set<String> = [], maximumStreams: Int = 1_000, fault: Fault? = nil,
    keepsRequests: Bool = true,
    respond: @escaping @Sendable (PushServerRequest) -> PushServerAnswer = { _ in .delivered }, watch: Watch? = nil
  ) async throws(OriginError) -> PushServer {
    try await start(port: port, tls: tls, keys: keys, fault: fault) { context in
      PushPipeline(
        service: APNsRules(tokens: tokens, topics: topics, channels: channels), ledger: PushLedger(), tls: context, fault: fault,
        maximumStreams: maximumStreams, keepsRequests: keepsRequests, watch: watch, respond: respond)
    }
  }

  /// Starts a server that plays Google's push service, FCM, and its authorization server. The caller
  /// must stop it.
  ///
  /// It issues access tokens at ``tokenURI`` and takes messages for the account's project. Requests for
  /// access tokens do not reach `respond`, and are not among ``requests`` and their counts.
  ///
  /// - Parameters:
  ///   - account: the account whose key signs the requests for access tokens.
  ///   - port: the port to listen on; 0 selects a free one.
  ///   - tls: the quality of the server's certificate.
  ///   - keys: a folder that keeps the root certificate and its key; nil makes new ones.
  ///   - maximumStreams: the maximum number of concurrent streams per connection.
  ///   - keepsRequests: false for a server that receives many requests: it counts them and keeps
  ///     none.
  ///   - fault: the fault for every connection, instead of all other behavior.
  ///   - respond: called with each message that breaks no rule, on the thread of its connection.
  ///   - watch: called with each request and its answer, on the thread of its connection.
  /// - Throws: ``OriginError`` when the certificate cannot be made or the port cannot be bound.
  public static func startFCM(
    account: GoogleAccount = GoogleAccount(), port: Int = 0, tls: FaultOrigin.TLS = .selfMade(), keys: KeyFolder? = nil,
    maximumStreams: Int = 1_000, keepsRequests: Bool = true, fault: Fault? = nil,
    respond: @escaping @Sendable (PushServerRequest) -> PushServerAnswer = { _ in .delivered }, watch: Watch? = nil
  ) async throws(OriginError) -> PushServer {
    let accessTokens = AccessTokens()
    return try await start(port: port, tls: tls, keys: keys, fault: fault, accessTokens: accessTokens) { context in
      PushPipeline(
        service: FCMRules(account: account, accessTokens: accessTokens), ledger: PushLedger(), tls: context, fault: fault,
        maximumStreams: maximumStreams, keepsRequests: keepsRequests, watch: watch, respond: respond)
    }
  }

  private static func start(
    port: Int, tls: FaultOrigin.TLS, keys: KeyFolder?, fault: Fault?, accessTokens: AccessTokens? = nil,
    _ makePipeline: (NIOSSLContext) -> PushPipeline
  ) async throws(OriginError) -> PushServer {
    guard let certificates = try tls.certificates(keptIn: keys) else { throw .certificate(reason: "a push service has TLS") }
    let pipeline = makePipeline(try certificates.context(protocols: fault == .http1 ? ["http/1.1"] : ["h2"], for: tls))
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      return PushServer(pipeline, try await pipeline.listen(port: port, group: group), accessTokens, certificates, group)
    } catch {
      certificates.remove()
      try? await group.shutdownGracefully()
      throw error
    }
  }
}
