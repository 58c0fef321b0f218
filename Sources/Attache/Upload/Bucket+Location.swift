extension Bucket {
  /// Creates a bucket from what an operator writes.
  ///
  /// - Parameters:
  ///   - location: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
  ///   - endpoint: such as `https://s3.example:9000`; nil for AWS.
  ///   - region: nil for `us-east-1`.
  ///   - credentials: the path of the file of credentials.
  ///   - keep: nil for 14 days.
  ///   - allowsHTTP: whether the endpoint may use plain http on any host.
  ///   - rootCertificates: a PEM file instead of the system's roots.
  /// - Throws: ``BucketMistake`` when a value is wrong or missing.
  package init(
    _ location: String, endpoint: String? = nil, region: String? = nil, credentials: String? = nil, keep: Duration? = nil,
    allowsHTTP: Bool = false, rootCertificates: String? = nil
  ) throws(BucketMistake) {
    let (name, prefix) = try Self.split(location)
    let region = region ?? "us-east-1"
    guard (1...64).contains(region.utf8.count),
      region.utf8.allSatisfy({ $0.isLetterASCII || $0.decimalDigit != nil || $0 == UInt8(ascii: "-") })
    else {
      throw BucketMistake("--upload-region \(PrintableText.of(region)): a region has letters, digits and hyphens, such as eu-central-1")
    }
    let keep = keep ?? .seconds(14 * 86_400)
    guard keep >= .seconds(60) else { throw BucketMistake("--upload-keep must be at least 1m") }
    let endpoint = try S3Endpoint(endpoint, bucket: name, region: region, allowsHTTP: allowsHTTP)
    guard let credentials else {
      throw BucketMistake("--upload needs --upload-credentials FILE, a file in the form of ~/.aws/credentials")
    }
    self.init(
      name: name, prefix: prefix, endpoint: endpoint, region: region, credentials: credentials, keep: keep,
      rootCertificates: rootCertificates)
  }

  /// Returns the name of the bucket and the prefix of its keys, which is empty or ends with a slash.
  private static func split(_ location: String) throws(BucketMistake) -> (String, String) {
    let shown = PrintableText.of(location)
    guard location.utf8.starts(with: "s3://".utf8) else {
      throw BucketMistake("--upload \(shown): write s3://BUCKET or s3://BUCKET/PREFIX")
    }
    let parts = location.utf8.dropFirst(5).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
    // The rules of S3: docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
    let name = parts[0]
    let isName =
      (3...63).contains(name.count) && [name.first, name.last].allSatisfy { $0?.isBucketLetter == true }
      && name.allSatisfy { $0.isBucketLetter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    guard isName else {
      throw BucketMistake(
        "--upload \(shown): the name of a bucket has 3 to 63 lower-case letters, digits, hyphens and dots, and begins and ends with a letter or digit"
      )
    }
    let folders = parts.last?.isEmpty == true ? parts.dropFirst().dropLast() : parts.dropFirst()
    let isPrefix = folders.allSatisfy { folder in
      !folder.isEmpty && folder != Array(".".utf8) && folder != Array("..".utf8) && folder.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
    guard isPrefix, location.utf8.count <= 512 else {
      throw BucketMistake(
        "--upload \(shown): the prefix has at most 512 bytes, and no empty part, no “.”, no “..” and no control characters")
    }
    let prefix = folders.map { String(decoding: $0, as: UTF8.self) + "/" }.joined()
    return (String(decoding: name, as: UTF8.self), prefix)
  }
}

/// A mistake in the description of a bucket: a sentence that tells the user what to write.
package struct BucketMistake: Error, CustomStringConvertible {
  package var description: String

  init(_ description: String) {
    self.description = description
  }
}

extension UInt8 {
  fileprivate var isBucketLetter: Bool { decimalDigit != nil || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
