import AttacheTesting
import Testing

@testable import Attache

/// A fault of the origin and what attache must say of it.
struct FaultCase: CustomTestStringConvertible, Sendable {
  var name: String
  var faults: [Fault]
  /// nil when the file is attached all the same.
  var reason: Reason?
  /// How often the origin is asked.
  var attempts = 1

  var testDescription: String { name }

  init(_ name: String, _ faults: Fault..., reason: Reason?, attempts: Int = 1) {
    (self.name, self.faults, self.reason, self.attempts) = (name, faults, reason, attempts)
  }

  /// Faults that a fetch gets over.
  static let harmless = [
    FaultCase("a delay", .delay(.milliseconds(20)), reason: nil),
    FaultCase("another Content-Type", .contentType("text/html"), reason: nil),
    FaultCase("an entity tag", .etag("\"1\""), reason: nil),
    FaultCase("many header fields", .headerFlood(count: 100), reason: nil),
    FaultCase("chunks", .chunked, reason: nil),
    FaultCase("no length", .noContentLength, reason: nil),
    FaultCase("a close afterwards", .connectionClose, reason: nil),
    FaultCase("HTTP/1.0", .http10, reason: nil),
    FaultCase("5 redirects", .redirectChain(hops: 5), reason: nil),
    FaultCase("a reset once", .once(.resetBeforeHeaders), reason: nil, attempts: 2),
    FaultCase("a body cut once", .once(.closeEarly(afterBytes: 50)), reason: nil, attempts: 2),
    FaultCase("502 once", .once(.status(502)), reason: nil, attempts: 2),
  ]

  /// Faults that end a fetch.
  static let fatal = [
    FaultCase("a reset instead of a response", .resetBeforeHeaders, reason: .connectReset, attempts: 3),
    FaultCase("a close instead of a response", .closeBeforeHeaders, reason: .connectReset, attempts: 3),
    FaultCase("a reset within the body", .reset(afterBytes: 50), reason: .httpTruncated, attempts: 3),
    FaultCase("a close within the body", .closeEarly(afterBytes: 50), reason: .httpTruncated, attempts: 3),
    FaultCase("a close within a chunked body", .chunked, .closeEarly(afterBytes: 50), reason: .httpTruncated, attempts: 3),
    FaultCase("a length that is too long", .contentLength(tooLongBy: 10), reason: .httpTruncated, attempts: 3),
    FaultCase("two lengths", .twoContentLengths, reason: .httpFraming),
    FaultCase("a body without an end", .endlessChunks, reason: .sizeImage),
    FaultCase("403", .status(403), reason: .httpStatus),
    FaultCase("404", .status(404), reason: .httpStatus),
    FaultCase("204", .status(204), reason: .httpStatus),
    FaultCase("206 unasked", .status(206), reason: .httpStatus),
    FaultCase("500", .status(500), reason: .httpStatus),
    FaultCase("502", .status(502), reason: .httpStatus, attempts: 3),
    FaultCase("503 without a time", .status(503), reason: .httpStatus),
    FaultCase("503 until after the deadline", .status(503, retryAfter: 60), reason: .httpStatus),
    FaultCase("504", .status(504), reason: .httpStatus, attempts: 3),
    FaultCase("a redirect to itself", .redirectLoop, reason: .httpRedirect),
    FaultCase("6 redirects", .redirectChain(hops: 6), reason: .httpRedirect, attempts: 6),
    FaultCase("a redirect to a private address", .redirect(to: "http://10.0.0.1/"), reason: .policyRedirect),
    FaultCase("a redirect without a place", .status(302), reason: .httpStatus),
    FaultCase("gzip unasked", .gzip, reason: .httpEncoding),
    FaultCase("a flood of header fields", .headerFlood(count: 1_000), reason: .httpHeaders),
    FaultCase("a header without an end", .endlessHeaders, reason: .httpHeaders),
    FaultCase("no HTTP", .notHTTP, reason: .httpProtocol),
  ]

  /// Faults that only the deadline ends.
  static let stalled = [
    FaultCase("a stall before the headers", .stallBeforeHeaders, reason: .deadline),
    FaultCase("a stall within the body", .stall(afterBytes: 50), reason: .deadline),
    FaultCase("a drip", .drip(bytesPerSecond: 10), reason: .deadline),
    FaultCase("a delay beyond the deadline", .delay(.seconds(60)), reason: .deadline),
  ]
}
