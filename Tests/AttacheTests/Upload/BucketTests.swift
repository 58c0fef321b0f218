import Testing

@testable import Attache

@Suite struct BucketTests {
  private func bucket(
    _ location: String, endpoint: String? = nil, region: String? = nil, credentials: String? = "key", keep: Duration? = nil,
    allowsHTTP: Bool = false
  ) throws -> Bucket {
    try Bucket(location, endpoint: endpoint, region: region, credentials: credentials, keep: keep, allowsHTTP: allowsHTTP)
  }

  @Test(
    arguments: [
      ("s3://media", nil, "https://media.s3.us-east-1.amazonaws.com/"),
      ("s3://media/push", nil, "https://media.s3.us-east-1.amazonaws.com/push/"),
      ("s3://media/push/", nil, "https://media.s3.us-east-1.amazonaws.com/push/"),
      ("s3://media.example.com/a/b", nil, "https://s3.us-east-1.amazonaws.com/media.example.com/a/b/"),
      ("s3://media/a b/é", nil, "https://media.s3.us-east-1.amazonaws.com/a%20b/%C3%A9/"),
      ("s3://media/push", "https://s3.example:9000", "https://s3.example:9000/media/push/"),
      ("s3://media/push", "HTTPS://S3.Example:443/", "https://s3.example/media/push/"),
      ("s3://media", "http://127.0.0.1:8333", "http://127.0.0.1:8333/media/"),
      ("s3://media", "http://[::1]:8333", "http://[::1]:8333/media/"),
      ("s3://media", "http://localhost", "http://localhost/media/"),
      ("s3://media", "https://minio:9000", "https://minio:9000/media/"),
    ] as [(String, String?, String)])
  func `the public URL follows from bucket and endpoint`(_ location: String, _ endpoint: String?, _ url: String) throws {
    #expect(try bucket(location, endpoint: endpoint).publicURL == url)
  }

  @Test(
    arguments: [
      "", "media", "s3:/media", "https://media", "s3://", "s3://ab", "s3://Media", "s3://-ab", "s3://ab.", "s3://a_b", "s3:///push",
      "s3://media//push", "s3://media/../x", "s3://media/./x", "s3://media/a\u{1}b", "s3://\(String(repeating: "a", count: 64))",
      "s3://media/\(String(repeating: "a", count: 600))",
    ])
  func `a location that names no bucket is refused`(_ location: String) {
    #expect(throws: BucketMistake.self) { try bucket(location) }
  }

  @Test(
    arguments: [
      "", "s3.example", "ftp://s3.example", "https://", "https://user@s3.example", "https://s3.example/path", "https://s3.example?x",
      "https://s3.example:0", "https://s3.example:99999", "https://s3 example", "http://s3.example", "http://10.0.0.1:9000",
    ])
  func `an endpoint that is no origin, or has plain http, is refused`(_ endpoint: String) {
    #expect(throws: BucketMistake.self) { try bucket("s3://media", endpoint: endpoint) }
  }

  @Test func `plain http is possible with --allow-http`() throws {
    #expect(try bucket("s3://media", endpoint: "http://10.0.0.1:9000", allowsHTTP: true).publicURL == "http://10.0.0.1:9000/media/")
  }

  @Test func `missing credentials, a region that is none and a short time are refused`() {
    #expect("\(#expect(throws: BucketMistake.self) { try bucket("s3://media", credentials: nil) }!)".contains("--upload-credentials"))
    #expect(throws: BucketMistake.self) { try bucket("s3://media", region: "a b") }
    #expect(throws: BucketMistake.self) { try bucket("s3://media", keep: .seconds(59)) }
  }
}
