import Testing

@testable import Attache

struct CurlNamesTests {
  @Test func `a cache takes a limited number of names`() throws {
    let names = try CurlNames()
    #expect((0..<CurlNames.maximumCount).allSatisfy { _ in names.takesName() })
    #expect(!names.takesName())
  }
}
