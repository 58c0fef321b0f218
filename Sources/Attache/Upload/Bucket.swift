/// A bucket of an S3-compatible store, in which attachments are published.
package struct Bucket: Sendable {
  package var name: String
  /// The start of all keys; empty, or with a slash at its end.
  package var prefix: String
  var endpoint: S3Endpoint
  package var region: String
  /// The path of the file of credentials.
  var credentials: String
  /// How long an object may be old before it is made young again, so that the bucket's lifecycle
  /// rule does not delete it.
  var keep: Duration
  /// A PEM file of root certificates instead of the system's.
  var rootCertificates: String?

  /// The URL below which the files of the store are published, with a trailing slash.
  package var publicURL: String { url(of: "") }

  /// Whether the endpoint is an address of this machine.
  package var isOnLoopback: Bool { endpoint.isLoopback }
  /// The endpoint's address, if it is one and not a name, and its port.
  package var address: (address: IPAddress, port: UInt16)? { endpoint.address.map { ($0, endpoint.port) } }

  /// The process that uploads.
  package var program: UploaderProgram { UploaderProgram(bucket: self) }

  /// Returns the key of a file of the store.
  func key(of name: StoreName) -> String { prefix + name.path }

  /// The key of the object that is written and removed at the start.
  var probeKey: String { prefix + ".attache-probe" }

  /// Returns the URL of an object below the prefix.
  func url(of path: String) -> String { endpoint.origin + endpoint.path(of: prefix + path) }
}

/// Where a bucket is: the origin, and how a path names the bucket.
package struct S3Endpoint: Hashable, Sendable {
  /// Scheme, host and port, without a slash at the end.
  var origin: String
  /// Host and port as in the field Host.
  var host: String
  /// The bucket as the first part of each path; nil if the host names it.
  var bucket: String?
  /// Whether the host is an address of this machine.
  let isLoopback: Bool
  /// The address, if the endpoint has one instead of a name.
  let address: IPAddress?
  let port: UInt16

  /// - Parameters:
  ///   - text: such as `https://s3.example:9000`; nil for AWS.
  ///   - allowsHTTP: whether plain http may leave this machine.
  init(_ text: String?, bucket: String, region: String, allowsHTTP: Bool) throws(BucketMistake) {
    guard let text else {
      // The certificate of AWS covers one label before its own name.
      let isLabel = !bucket.utf8.contains(UInt8(ascii: "."))
      host = (isLabel ? "\(bucket)." : "") + "s3.\(region).amazonaws.com"
      (origin, self.bucket, isLoopback) = ("https://\(host)", isLabel ? nil : bucket, false)
      (address, port) = (nil, 443)
      return
    }
    let mistake = "--upload-endpoint \(PrintableText.of(text))"
    let bytes = Array(text.utf8)
    let scheme = ["https://", "http://"].first { bytes.prefix($0.utf8.count).map(\.lowercasedASCII) == Array($0.utf8) }
    guard let scheme else { throw BucketMistake("\(mistake): write the scheme and the host, such as https://s3.example:9000") }
    var rest = bytes.dropFirst(scheme.utf8.count)
    if rest.last == UInt8(ascii: "/") { rest = rest.dropLast() }
    guard !rest.isEmpty, !rest.contains(where: { "/?#\\".utf8.contains($0) || $0.isControlASCII }) else {
      throw BucketMistake("\(mistake): write only the scheme, the host and the port; --upload names the bucket and the prefix")
    }
    let authority: Authority
    do throws(Refusal) { authority = try Authority(rest) } catch { throw BucketMistake("\(mistake): \(error.message)") }
    var isLoopback = authority.host.text == "localhost"
    host = authority.host.text
    if case .address(let address) = authority.host {
      (isLoopback, self.address) = (address.isLoopback, address)
      if case .v6 = address { host = "[\(host)]" }
    } else {
      address = nil
    }
    guard scheme == "https://" || allowsHTTP || isLoopback else {
      throw BucketMistake("\(mistake): use https, or --allow-http for plain http")
    }
    // The default port is not sent, so it is not signed either.
    let defaultPort: UInt16 = scheme == "https://" ? 443 : 80
    port = authority.port ?? defaultPort
    if port != defaultPort { host += ":\(port)" }
    (origin, self.isLoopback) = (scheme + host, isLoopback)
    self.bucket = bucket
  }

  /// Returns the path of a key as it is sent and signed: with everything percent-encoded but
  /// unreserved characters and slashes.
  func path(of key: String) -> String {
    "/" + (bucket.map { $0 + "/" } ?? "") + S3Signature.encoded(key, keepsSlashes: true)
  }
}
