/// A request of a host to a fetcher process.
enum FetcherRequest: Equatable {
  /// Fetch a URL that has passed the host's gate.
  ///
  /// - Parameters:
  ///   - place: where the fetcher reports its progress.
  ///   - payload: the number of the payload that waits for it.
  ///   - isRefused: whether the circuit breaker refuses the request: only a fresh file of the cache
  ///     may be handed out.
  ///   - fields: the operator's header lines for the origin of the URL.
  case fetch(UInt64, place: UInt32, payload: UInt64, deadline: MonotonicInstant, isRefused: Bool, fields: [String], url: String)
  /// Extend the deadline: a payload with a later one has joined.
  case extend(UInt64, payload: UInt64, deadline: MonotonicInstant)
  /// Cancel the fetch: no waiter is left.
  case cancel(UInt64)
  /// Reply, which shows that the loop is running.
  case pulse(UInt64)
  /// Write the pending rows of the cache.
  case close
}

/// The contents of the frames between a host and a fetcher.
enum FetcherFrame {
  /// The longest frame: a URL of ``URLGate/maximumBytes`` with ``OriginFields/maximumBytes``, or a message, plus numbers.
  static let maximumBytes = 16 << 10

  static func append(_ request: FetcherRequest, to bytes: inout [UInt8]) {
    switch request {
    case .fetch(let number, let place, let payload, let deadline, let isRefused, let fields, let url):
      bytes.append(1)
      bytes.put(number)
      bytes.put(place)
      bytes.put(payload)
      bytes.put(deadline.nanoseconds)
      bytes.append(isRefused ? 1 : 0)
      bytes.put(UInt8(fields.count))
      for field in fields {
        bytes.put(UInt16(field.utf8.count))
        bytes.append(contentsOf: field.utf8)
      }
      bytes.append(contentsOf: url.utf8)
    case .extend(let number, let payload, let deadline):
      bytes.append(2)
      bytes.put(number)
      bytes.put(payload)
      bytes.put(deadline.nanoseconds)
    case .cancel(let number):
      bytes.append(3)
      bytes.put(number)
    case .pulse(let number):
      bytes.append(4)
      bytes.put(number)
    case .close:
      bytes.append(5)
    }
  }

  /// Parses a frame without its length.
  static func request(_ bytes: ArraySlice<UInt8>) throws(FrameStream.Fault) -> FetcherRequest {
    var reader = ByteReader(bytes)
    let request: FetcherRequest
    switch try reader.next(UInt8.self) {
    case 1:
      let (number, place, payload) = (try reader.next(UInt64.self), try reader.next(UInt32.self), try reader.next(UInt64.self))
      let (deadline, isRefused) = (MonotonicInstant(nanoseconds: try reader.next(Int64.self)), try reader.flag())
      var fields: [String] = []
      for _ in 0..<(try reader.next(UInt8.self)) { fields.append(try reader.text(of: Int(try reader.next(UInt16.self)))) }
      request = .fetch(
        number, place: place, payload: payload, deadline: deadline, isRefused: isRefused, fields: fields,
        url: try reader.text(atMost: URLGate.maximumBytes))
    case 2:
      request = .extend(
        try reader.next(UInt64.self), payload: try reader.next(UInt64.self),
        deadline: MonotonicInstant(nanoseconds: try reader.next(Int64.self)))
    case 3: request = .cancel(try reader.next(UInt64.self))
    case 4: request = .pulse(try reader.next(UInt64.self))
    case 5: request = .close
    default: throw .invalid
    }
    try reader.end()
    return request
  }
}
