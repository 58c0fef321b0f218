/// What differs between the push services that ``PushServer`` plays.
///
/// The server records, holds and counts requests in the same way for each service.
protocol PushService: Sendable {
  /// Sets the request's ``PushServerRequest/deviceToken``, ``PushServerRequest/receiver`` and
  /// ``PushServerRequest/identifier``.
  func identify(_ request: inout PushServerRequest)

  /// Answers a request that is not a push, such as one for an access token; returns nil for a push.
  ///
  /// The server does not count or record such a request.
  func responseBesidePushes(to request: PushServerRequest) -> PushResponse?

  /// Checks a request for a push.
  ///
  /// - Throws: ``PushRefusal`` for the first rule that the request breaks.
  func check(_ request: PushServerRequest) throws(PushRefusal)

  /// Returns the header fields of every answer to a request.
  func fields(ofAnswerTo request: PushServerRequest) -> [HeaderField]

  /// Returns the body of the answer to a request that is accepted.
  func body(ofAccepted request: PushServerRequest) -> [UInt8]

  /// Returns the body of the answer to a request that is refused.
  func body(of refusal: PushRefusal) -> [UInt8]
}

extension PushService {
  func responseBesidePushes(to request: PushServerRequest) -> PushResponse? { nil }
}

/// An answer without its header fields.
struct PushResponse: Sendable {
  var status: Int
  var body: [UInt8] = []
  /// The service's word for an error; nil for a success.
  var reason: String?
}

/// One of a service's errors.
struct PushRefusal: Error, Hashable {
  var status: Int
  /// Apple's reason, or the error code in Google's FcmError; nil for none.
  var reason: String?
  /// When the device token became invalid, in milliseconds since 1970; only Apple says so.
  var timestamp: Int64?
  /// The value of the `retry-after` header field.
  var retryAfter: String?
  /// Google's sentence; nil for the usual one. Apple sends none.
  var message: String?
  /// What Google says beside the error code; nil for nothing.
  var detail: GoogleErrorDetail?

  init(_ status: Int, _ reason: String?, message: String? = nil, detail: GoogleErrorDetail? = nil) {
    (self.status, self.reason, self.message, self.detail) = (status, reason, message, detail)
  }
}
