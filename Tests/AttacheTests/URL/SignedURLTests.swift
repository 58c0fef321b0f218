import Testing

@testable import Attache

@Suite struct SignedURLTests {
  @Test(
    arguments: [
      "https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=ab",
      "https://cdn.example/a.jpg?Expires=1&Signature=x&Key-Pair-Id=K", "https://a.blob.core.windows.net/c/b?sv=2020&sig=abc%3D",
      "https://storage.googleapis.com/b/o?GoogleAccessId=x", "https://storage.googleapis.com/b/o?X-Goog-Signature=1",
      "https://cdn.example/a.jpg?hdnea=exp=1~hmac=2", "https://cdn.example/a.jpg?w=100&TOKEN=1", "https://cdn.example/a.jpg?%74oken=1",
      "https://cdn.example/a.jpg?x=1;access_token=2", "https://cdn.example/a.jpg?sig", "https://cdn.example?auth_key=1#x",
    ])
  func `a URL with a signature or a token looks signed`(_ url: String) {
    #expect(SignedURL.looksSigned(url))
  }

  @Test(
    arguments: [
      "https://cdn.example/a.jpg", "https://cdn.example/token/sig.jpg", "https://cdn.example/a.jpg?w=100&h=100", "https://cdn.example/a?",
      "https://cdn.example/a.jpg?v=token", "https://cdn.example/a.jpg?tokens=1", "https://cdn.example/a.jpg#?token=1",
      "https://cdn.example/a.jpg?design=1", "https://cdn.example/a?=token", "https://cdn.example/a?%7", "https://cdn.example/a?&&;=",
    ])
  func `other URLs do not`(_ url: String) {
    #expect(!SignedURL.looksSigned(url))
  }
}
