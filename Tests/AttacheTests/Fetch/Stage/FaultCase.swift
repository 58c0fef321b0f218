import AttacheTesting
import Testing

@testable import Attache

/// A fault of the origin and the expected result.
struct FaultCase: Sendable {
  var name: String
  var faults: [Fault]
  var reason: Reason

  init(_ name: String, _ faults: Fault..., reason: Reason) {
    (self.name, self.faults, self.reason) = (name, faults, reason)
  }

  /// Faults that end a fetch.
  static let fatal = [
    FaultCase("a reset instead of a response", .resetBeforeHeaders, reason: .connectReset),
    FaultCase("a close instead of a response", .closeBeforeHeaders, reason: .connectReset),
    FaultCase("a reset within the body", .reset(afterBytes: 50), reason: .httpTruncated),
    FaultCase("a close within the body", .closeEarly(afterBytes: 50), reason: .httpTruncated),
    FaultCase("a close within a chunked body", .chunked, .closeEarly(afterBytes: 50), reason: .httpTruncated),
    FaultCase("a length that is too long", .contentLength(tooLongBy: 10), reason: .httpTruncated),
    FaultCase("two lengths", .twoContentLengths, reason: .httpFraming),
    FaultCase("a body without an end", .endlessChunks, reason: .sizeImage),
    FaultCase("403", .status(403), reason: .httpStatus),
    FaultCase("404", .status(404), reason: .httpStatus),
    FaultCase("204", .status(204), reason: .httpStatus),
    FaultCase("206 unasked", .status(206), reason: .httpStatus),
    FaultCase("500", .status(500), reason: .httpStatus),
    FaultCase("502", .status(502), reason: .httpStatus),
    FaultCase("503 without a time", .status(503), reason: .httpStatus),
    FaultCase("503 until after the deadline", .status(503, retryAfter: 60), reason: .httpStatus),
    FaultCase("504", .status(504), reason: .httpStatus),
    FaultCase("a redirect to itself", .redirectLoop, reason: .httpRedirect),
    FaultCase("6 redirects", .redirectChain(hops: 6), reason: .httpRedirect),
    FaultCase("a redirect to a private address", .redirect(to: "http://10.0.0.1/"), reason: .policyRedirect),
    FaultCase("a redirect without a place", .status(302), reason: .httpStatus),
    FaultCase("gzip unasked", .gzip, reason: .httpEncoding),
    FaultCase("a flood of header fields", .headerFlood(count: 1_000), reason: .httpHeaders),
    FaultCase("a header without an end", .endlessHeaders, reason: .httpHeaders),
    FaultCase("no HTTP", .notHTTP, reason: .httpProtocol),
  ]

  /// Faults that end only at the deadline.
  static let stalled = [
    FaultCase("a stall before the headers", .stallBeforeHeaders, reason: .deadline),
    FaultCase("a stall within the body", .stall(afterBytes: 50), reason: .deadline),
    FaultCase("a drip", .drip(bytesPerSecond: 10), reason: .deadline),
    FaultCase("a delay beyond the deadline", .delay(.seconds(60)), reason: .deadline),
  ]
}
