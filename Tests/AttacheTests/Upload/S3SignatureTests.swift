import Foundation
import Testing

@testable import Attache

@Suite struct S3SignatureTests {
  /// The examples of
  /// docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  private static let example = S3Signature(
    key: .init(identifier: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), region: "us-east-1",
    time: 1_369_353_600)
  private static let host = "examplebucket.s3.amazonaws.com"

  private func signature(_ fields: [(String, String)]) -> String? {
    fields.last { $0.0 == "authorization" }?.1.components(separatedBy: "Signature=").last
  }

  @Test func `AWS' examples have the published signatures`() {
    let get = Self.example.fields("GET", host: Self.host, path: "/test.txt", [("range", "bytes=0-9")], payloadHash: S3Signature.emptyHash)
    #expect(signature(get) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    let put = Self.example.fields(
      "PUT", host: Self.host, path: "/test%24file.text",
      [("date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
      payloadHash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
    #expect(signature(put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    let lifecycle = Self.example.fields(
      "GET", host: Self.host, path: "/", query: [("lifecycle", "")], [], payloadHash: S3Signature.emptyHash)
    #expect(signature(lifecycle) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    let list = Self.example.fields(
      "GET", host: Self.host, path: "/", query: [("max-keys", "2"), ("prefix", "J")], [], payloadHash: S3Signature.emptyHash)
    #expect(signature(list) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
  }

  private struct Signed: Decodable {
    var method, host, key, hash, region, authorization: String
    var query, fields: [[String]]
    var token: String?
    var time: Int64
  }

  /// `scripts/s3-signatures` makes the file.
  @Test func `requests have the signatures that botocore gives them`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Fixtures/s3/signatures.json")
    let requests = try JSONDecoder().decode([Signed].self, from: Data(contentsOf: file))
    #expect(requests.count == 60)
    for request in requests {
      let signature = S3Signature(
        key: .init(identifier: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", sessionToken: request.token),
        region: request.region, time: request.time)
      let fields = signature.fields(
        request.method, host: request.host, path: "/" + S3Signature.encoded(request.key, keepsSlashes: true),
        query: request.query.map { ($0[0], $0[1]) }, request.fields.map { ($0[0], $0[1]) }, payloadHash: request.hash)
      let authorization = try #require(fields.last?.1)
      #expect(
        self.signature(fields) == request.authorization.components(separatedBy: "Signature=").last, "\(request.method) \(request.key)")
      #expect(authorization.contains(request.authorization.components(separatedBy: ", ")[1]))
    }
  }
}
